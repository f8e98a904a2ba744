import fc from 'fast-check';
import { accepts, type Schema } from './document.ts';

/** What the service knows for a field of this name, such as ids that exist. */
export type Known = (name: string) => readonly unknown[];

/** Values that a schema accepts. Where the service knows some for a field, nine of ten are of those. */
export function arbitraryOf(schema: Schema, known: Known, name = ''): fc.Arbitrary<unknown> {
  const values = known(name).filter((value) => accepts(schema, value));
  const anything = byForm(schema, known);
  if (values.length === 0) return anything;
  return fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: anything });
}

function byForm(schema: Schema, known: Known): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => byForm(choice, known)));
  switch (schema.type) {
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -(2 ** 31), max: schema.maximum ?? 2 ** 31 - 1 });
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e9, max: schema.maximum ?? 1e9, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(byForm(schema.items ?? {}, known), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 5, 5),
      });
    case 'object':
      return objectOf(schema, known);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objectOf(schema: Schema, known: Known): fc.Arbitrary<unknown> {
  const [[pattern, inside] = []] = Object.entries(schema.patternProperties ?? {});
  if (pattern !== undefined && inside) {
    return fc.dictionary(fc.stringMatching(new RegExp(pattern, 'u')), byForm(inside, known), {
      maxKeys: Math.min(schema.maxProperties ?? 5, 5),
      noNullPrototype: true,
    });
  }
  const properties = Object.entries(schema.properties ?? {}).map(
    ([name, property]) => [name, arbitraryOf(property, known, name)] as const,
  );
  return fc
    .record(Object.fromEntries(properties), { requiredKeys: schema.required ?? [], noNullPrototype: true })
    .filter((value) => accepts(schema, value));
}

/** What goes wrong in careless programs, wherever text is taken. */
export const awkwardTexts = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff x',
  '\u202e\u200f\ufeff',
  '٣٤٥',
  '１２３',
  'ﬀİıß',
  '👩‍👩‍👧‍👦',
  "'; drop table payments; --",
  '" or 1=1 --',
  '<script>alert(1)</script>',
  '../../../../etc/passwd',
  '%00%0d%0a',
  'a\r\nset-cookie: a=b',
  '__proto__',
  'constructor',
  '-0',
  '1e30',
  '1.0000000001',
  'NaN',
  '9007199254740993',
  '{{7*7}}',
  'x'.repeat(65),
  'x'.repeat(5000),
];

function textOf(schema: Schema): fc.Arbitrary<string> {
  const fits = (text: string) => accepts(schema, text);
  const own = schema.format
    ? (formats[schema.format] ?? fc.string())
    : schema.pattern
      ? fc.stringMatching(new RegExp(schema.pattern, 'u'))
      : fc.string({ unit: 'binary' });
  const longest = 'x'.repeat(Math.min(schema.maxLength ?? 2048, 2048));
  const awkward = [...awkwardTexts, longest].filter(fits);
  if (awkward.length === 0) return own.filter(fits);
  return fc.oneof(
    { weight: 3, arbitrary: own.filter(fits) },
    { weight: 1, arbitrary: fc.constantFrom(...awkward) },
  );
}

const formats: Record<string, fc.Arbitrary<string>> = {
  uuid: fc.uuid(),
  date: fc.date({ noInvalidDate: true, min: new Date(0) }).map((date) => date.toISOString().slice(0, 10)),
  'date-time': fc.oneof(
    fc
      .date({ noInvalidDate: true, min: new Date('0000-01-01'), max: new Date('9999-12-31') })
      .map((date) => date.toISOString()),
    fc.constantFrom(
      '2016-12-31T23:59:60Z',
      '0000-01-01T00:00:00Z',
      '9999-12-31T23:59:59.999999999-23:59',
      '2026-01-22t00:00:00+04:00',
      '2024-02-29T00:00:00.1z',
    ),
  ),
};
