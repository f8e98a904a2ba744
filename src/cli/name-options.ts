import { OperatorRefusal } from '../platform/operator-refusal.ts';

type FieldFault = { field: string; detail: string };

/** Faults speak of fields; who sits at the command line has to hear the names of the options. */
export async function namingOptions<Result>(
  optionOf: Record<string, string>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OperatorRefusal) || !('faults' in error)) throw error;
    const lines = (error.faults as FieldFault[]).map(
      ({ field, detail }) => `${optionOf[field] ?? field}: ${detail}`,
    );
    throw new OperatorRefusal('given', lines.join('\n'));
  }
}
