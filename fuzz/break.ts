import { awkwardTexts } from './arbitrary.ts';
import { accepts, type Schema } from './document.ts';

/** A value in which exactly one thing is wrong, and where. */
export type Broken = { value: unknown; pointer: string; how: string };

/** Stands in what is wrong: no answer may say it again. */
export const canary = 'canary4000000000000002';

/** All ways we know to break one thing in a valid value so that its schema certainly refuses it. */
export function breaksOf(schema: Schema, value: unknown): Broken[] {
  return candidates(schema, value, '').filter((broken) => !accepts(schema, broken.value));
}

const wrongValues: unknown[] = [
  null,
  true,
  0,
  -1,
  1.0000000001,
  1e30,
  [],
  {},
  [[]],
  'true',
  '١٢',
  canary,
  ...awkwardTexts,
];

function candidates(schema: Schema, value: unknown, pointer: string): Broken[] {
  const whole = [...wrongValues, ...beyondLimits(schema, value)].map((wrong) => ({
    value: wrong,
    pointer,
    how: `${JSON.stringify(wrong).slice(0, 60)} instead`,
  }));
  if (Array.isArray(value)) {
    const inside = value.flatMap((item, at) =>
      candidates(schema.items ?? {}, item, `${pointer}/${at}`).map((broken) => ({
        ...broken,
        value: value.with(at, broken.value),
      })),
    );
    return [...whole, ...inside];
  }
  return isObject(value) ? [...whole, ...insideObject(schema, value, pointer)] : whole;
}

/** One more or less than the schema allows. */
function beyondLimits(schema: Schema, value: unknown): unknown[] {
  const beyond: unknown[] = [];
  if (schema.maxLength !== undefined) beyond.push('x'.repeat(schema.maxLength + 1));
  if (schema.minLength) beyond.push('x'.repeat(schema.minLength - 1));
  if (schema.minimum !== undefined) beyond.push(schema.minimum - 1);
  if (schema.maximum !== undefined) beyond.push(schema.maximum + 1);
  if (schema.maxItems !== undefined && Array.isArray(value))
    beyond.push(Array.from({ length: schema.maxItems + 1 }, (_, at) => value[0] ?? String(at)));
  if (schema.maxProperties !== undefined)
    beyond.push(
      Object.fromEntries(Array.from({ length: schema.maxProperties + 1 }, (_, at) => [`k${at}`, 'v'])),
    );
  if (typeof value === 'string') beyond.push(`${value}\n`, `${value}\0`, ` ${value}`);
  return beyond;
}

function insideObject(schema: Schema, value: Record<string, unknown>, pointer: string): Broken[] {
  const place = (name: string) => `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const left = (name: string) => Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
  const missing = (schema.required ?? []).map((name) => ({
    value: left(name),
    pointer: place(name),
    how: `${name} left out`,
  }));
  const unknown = ['surprise', 'constructor', 'k'.repeat(100)].map((name) => ({
    value: { ...value, [name]: canary },
    pointer: place(name),
    how: `${name.slice(0, 20)} added`,
  }));
  const inside = Object.entries(value).flatMap(([name, property]) =>
    candidates(schemaAt(schema, name), property, place(name)).map((broken) => ({
      ...broken,
      value: { ...value, [name]: broken.value },
    })),
  );
  return [...missing, ...unknown, ...inside];
}

function schemaAt(schema: Schema, name: string): Schema {
  const [inPattern] = Object.values(schema.patternProperties ?? {});
  return schema.properties?.[name] ?? inPattern ?? {};
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
