/** A sentence for the caller about a body that is not the JSON we take. */
export class JsonRefused extends Error {}

const maxDepth = 32;

/**
 * `JSON.parse` that refuses what two readers could understand differently: a name that comes twice (one reader
 * takes the first, another the last) and `__proto__`. Depth is bounded so that no later walk can run out of stack.
 */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new JsonRefused('The body is not valid JSON.');
  }
  refuseAmbiguity(text);
  return value;
}

/** Walks a text that is known to be valid JSON, so that it only has to tell names from values. */
function refuseAmbiguity(text: string): void {
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
      case 0x5b: // [
        open.push(text[at] === '{' ? new Set() : null);
        if (open.length > maxDepth)
          throw new JsonRefused(`The body is nested deeper than ${maxDepth} levels.`);
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        break;
      case 0x22: {
        const end = endOfString(text, at);
        const names = open.at(-1);
        if (names && isName(text, end)) takeName(names, JSON.parse(text.slice(at, end + 1)) as string);
        at = end;
      }
    }
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
  return at;
}

function isName(text: string, end: number): boolean {
  let at = end + 1;
  while (/\s/.test(text.charAt(at))) at++;
  return text[at] === ':';
}

function takeName(names: Set<string>, name: string): void {
  if (name === '__proto__') throw new JsonRefused('The name "__proto__" is not allowed in the body.');
  if (names.has(name))
    throw new JsonRefused(`The name ${JSON.stringify(name.slice(0, 64))} comes twice in one object.`);
  names.add(name);
}
