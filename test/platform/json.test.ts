import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JsonRefused, parseJson } from '../../src/platform/json.ts';

function refuses(text: string, sentence: RegExp): void {
  assert.throws(
    () => parseJson(text),
    (error: unknown) => error instanceof JsonRefused && sentence.test(error.message),
    text.slice(0, 100),
  );
}

const refusesTwice = (text: string) => refuses(text, /comes twice in one object/);
const refusesProto = (text: string) => refuses(text, /^The name "__proto__" is not allowed in the body\.$/);
const takes = (text: string) => assert.deepEqual(parseJson(text), JSON.parse(text));

test('every kind of JSON value is taken', () => {
  for (const text of [
    'null',
    'true',
    '-0.5e3',
    '"text"',
    '""',
    '[]',
    '{}',
    '[1,"a",null]',
    '{"a":{"b":[{}]}}',
  ])
    takes(text);
});

test('what is not JSON is refused', () => {
  for (const text of [
    '',
    ' ',
    '{',
    '{]',
    '{"a":1,}',
    '[1,]',
    "{'a':1}",
    '{a:1}',
    '{"a":1}{"a":1}',
    '01',
    'NaN',
    'undefined',
    '"a\nb"',
    '"\\x"',
    '// a\n{}',
    '\uFEFF{}',
    '\u00A0{}',
  ]) {
    refuses(text, /^The body is not valid JSON\.$/);
  }
});

test('a name that comes twice is refused, at any depth', () => {
  refusesTwice('{"a":1,"a":1}');
  refusesTwice('{"a":1,"b":2,"a":3}');
  refusesTwice('{"a":{"b":1,"c":2,"b":3}}');
  refusesTwice('[0,{"a":1,"a":2}]');
  refusesTwice('[[{"x":[{"a":1,"a":2}]}]]');
  refusesTwice('{"":1,"":2}');
  refusesTwice('{"a":{"b":1},"a":{"b":1}}');
  refusesTwice('{"a":[{}],"a":[{}]}');
});

test('a name that comes twice is refused however it is spelled', () => {
  refusesTwice('{"a":1,"\\u0061":2}');
  refusesTwice('{"\\u0061":1,"a":2}');
  refusesTwice('{"é":1,"\\u00e9":2}');
  refusesTwice('{"\\u00E9":1,"\\u00e9":2}');
  refusesTwice('{"/":1,"\\/":2}');
  refusesTwice('{"\\n":1,"\\u000a":2}');
  refusesTwice('{"😀":1,"\\ud83d\\ude00":2}');
  refusesTwice('{"\\"":1,"\\u0022":2}');
  refusesTwice('{"a" :1,"a"\t\r\n :2}');
});

test('names that only look alike are different names', () => {
  for (const text of [
    '{"a":1,"A":2}',
    '{"a":1,"a ":2}',
    '{"a":1,"\\\\u0061":2}',
    '{"é":1,"e\\u0301":2}',
    '{"constructor":1,"toString":2,"hasOwnProperty":3,"prototype":4}',
  ]) {
    takes(text);
  }
});

test('the same name in another object is fine', () => {
  takes('{"a":{"x":1},"b":{"x":1}}');
  takes('[{"x":1},{"x":1}]');
  takes('{"x":{"x":{"x":1}}}');
  takes('{"x":[{"x":1},{"x":2}],"y":{"x":3}}');
});

test('a value that equals a name is no name', () => {
  takes('{"a":"a","b":"a"}');
  takes('["a","a"]');
  takes('{"a":["a","a"],"b":"a"}');
  takes('{"a":"__proto__"}');
  takes('["__proto__"]');
});

test('__proto__ is refused as a name, also when it is spelled with escapes', () => {
  refusesProto('{"__proto__":{"isAdmin":true}}');
  refusesProto('{"a":[{"__proto__":null}]}');
  refusesProto('{"\\u005f_proto__":1}');
  refusesProto('{"\\u005F\\u005F\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f\\u005f":1}');
  refusesProto('{"__proto__" \n : 1}');
  takes('{"_proto_":1,"__proto":2,"__PROTO__":3}');
});

test('what stands inside a string opens nothing, closes nothing and names nothing', () => {
  takes(JSON.stringify({ a: '{"a":1,"a":2}', b: '"}]', c: '\\', d: '\\"', e: '\\\\"', f: '":"' }));
  takes(JSON.stringify({ '{"a":1': 1, '"': 2, '\\': 3, '\\"': 4, ':': 5, ',': 6 }));
  takes(JSON.stringify([`${'['.repeat(1_000)}`, '{'.repeat(1_000)]));
  takes('{"a":"x\\\\","b":"y\\\\\\"","c":"\\u0022"}');
  refusesTwice('{"a":"\\\\","a":"\\""}');
  refusesTwice('{"a":"}","a":"{"}');
});

test('white space of every kind may stand between the parts', () => {
  takes(' \t\r\n{ \t\r\n"a" \t\r\n: \t\r\n[ \n1 \n, \n2 ] , "b":{}\n}\n ');
  refusesTwice('\n{\n"a"\n:\n1\n,\n"a"\n:\n2\n}\n');
});

test('32 levels are taken, 33 are refused', () => {
  const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  const objects = (depth: number) => '{"a":'.repeat(depth - 1) + '{}'.concat('}'.repeat(depth - 1));
  const mixed = (depth: number) => '[{"a":'.repeat(depth / 2) + 1 + '}]'.repeat(depth / 2);
  takes(arrays(32));
  takes(objects(32));
  takes(mixed(32));
  for (const text of [arrays(33), objects(33), mixed(34), `{"a":[${arrays(31)}]}`])
    refuses(text, /^The body is nested deeper than 32 levels\.$/);
});

test('the depth is that of one place, not of all brackets together', () => {
  takes(`[${Array.from({ length: 1_000 }, () => '[[{}]]').join(',')}]`);
});

test('a hundred thousand brackets are refused and do not exhaust the stack', () => {
  const count = 100_000;
  refuses('['.repeat(count) + ']'.repeat(count), /nested deeper/);
  refuses('{"a":'.repeat(count) + 1 + '}'.repeat(count), /nested deeper/);
  refuses('['.repeat(count), /not valid JSON/);
  refuses('{"a":'.repeat(count), /not valid JSON/);
});

test('the sentence about a name shows no more than its beginning', () => {
  const name = 'n'.repeat(10_000);
  assert.throws(
    () => parseJson(`{"${name}":1,"${name}":2}`),
    (error: Error) => error.message.length < 120 && error.message.includes('n'.repeat(64)),
  );
});

test('whatever can be written as JSON is read back as it was', () => {
  // An own `__proto__` is the one name that is refused on purpose.
  const value = fc.jsonValue({ maxDepth: 8 }).filter((one) => !JSON.stringify(one).includes('__proto__'));
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 1, '\t'), (one, indent) => {
      const text = JSON.stringify(one, undefined, indent);
      assert.deepEqual(parseJson(text), JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});

test('any name, repeated anywhere in an object, is refused; without the repeat it is taken', () => {
  const name = fc.string({ unit: 'grapheme' }).filter((one) => one !== '__proto__');
  const escaped = (text: string) =>
    `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1 }), fc.nat(), fc.jsonValue(), (names, which, value) => {
      const text = JSON.stringify(value).replaceAll('__proto__', 'proto');
      const pairs = names.map((one) => `${JSON.stringify(one)}:${text}`);
      takes(`{${pairs.join(',')}}`);
      const again = `${escaped(names[which % names.length] as string)}:${text}`;
      refusesTwice(`{${[...pairs, again].join(',')}}`);
    }),
  );
});
