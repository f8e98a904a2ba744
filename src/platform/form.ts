/** Every value of every field or query parameter, in the order they came; a repeated one keeps all its values. */
export type FormFields = ReadonlyMap<string, readonly string[]>;

export function parseForm(text: string): FormFields {
  const fields = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const values = fields.get(name);
    if (values) values.push(value);
    else fields.set(name, [value]);
  }
  return fields;
}

/** The query of an address as it came, before anything else has interpreted it. */
export function queryOf(url: string): FormFields {
  const start = url.indexOf('?');
  return parseForm(start === -1 ? '' : url.slice(start + 1));
}
