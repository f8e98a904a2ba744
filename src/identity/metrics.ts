import { Counter, Gauge, type Registry } from 'prom-client';

export type IdentityMetrics = {
  smsSent: Counter<'outcome'>;
  smsRefused: Counter<'reason'>;
  smsPaused: Gauge<'prefix'>;
};

export function createIdentityMetrics(registry: Registry): IdentityMetrics {
  const registers = [registry];
  return {
    smsSent: new Counter({
      name: 'identity_sms_sent_total',
      help: 'One-time codes handed to the SMS sender, by outcome: sent or failed.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    smsRefused: new Counter({
      name: 'identity_sms_refused_total',
      help: 'One-time codes that were not sent because of a limit, by the limit. A rise of daily, country or conversion is an alarm.',
      labelNames: ['reason'] as const,
      registers,
    }),
    smsPaused: new Gauge({
      name: 'identity_sms_paused',
      help: 'Whether this process saw the prefix paused because hardly any code was proven: 1 when paused.',
      labelNames: ['prefix'] as const,
      registers,
    }),
  };
}
