import type { Acquirer } from '../../src/checkout/domain/acquirer.ts';
import type { TestApp } from './app.ts';

/** A way to let the acquirer of a service answer otherwise for as long as something is done. */
export function replacingAcquirer(service: TestApp) {
  const { deps } = service.areas.checkout;
  const real = deps.acquirer;
  return async <Result>(changes: Partial<Acquirer>, work: () => Promise<Result>): Promise<Result> => {
    deps.acquirer = { ...real, ...changes };
    try {
      return await work();
    } finally {
      deps.acquirer = real;
    }
  };
}
