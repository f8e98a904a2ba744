import { readFileSync } from 'node:fs';
import pg from 'pg';

/** One environment variable: how it is read, and what the documentation says of it. */
export type Setting<Value> = {
  name: string;
  group: string;
  about: string;
  /** The default as the documentation shows it; the value itself, when it is plain text, is parsed like any other. */
  fallback: { text: string; value?: string };
  secret: boolean;
  values: string;
  parse(text: string): Value;
};

export type Fault = { name: string; problem: string; remedy: string };

/** Thrown with every fault at once, so that an operator mends a configuration in one go. */
export class ConfigurationFaults extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.map((fault) => `${fault.name}: ${fault.problem} ${fault.remedy}`).join('\n'));
    this.name = 'ConfigurationFaults';
    this.faults = faults;
  }
}

/** What a parser throws: the first sentence says what is wrong, the second what to do. */
export class BadSetting extends Error {
  readonly remedy: string;

  constructor(problem: string, remedy: string) {
    super(problem);
    this.remedy = remedy;
  }
}

type Description = { group: string; about: string; default?: string; shownDefault?: string };
type Settings = Record<string, Setting<unknown>>;
type ValueOf<S> = S extends Setting<infer Value> ? Value : never;
export type Values<S extends Settings> = { [Key in keyof S]: ValueOf<S[Key]> | undefined };

function setting<Value>(
  name: string,
  description: Description,
  values: string,
  parse: (text: string) => Value,
  secret = false,
): Setting<Value> {
  const { group, about, default: value, shownDefault } = description;
  const text = shownDefault ?? value ?? 'none';
  return {
    name,
    group,
    about,
    fallback: value === undefined ? { text } : { text, value },
    secret,
    values,
    parse,
  };
}

export function choice<const Choice extends string>(
  name: string,
  choices: readonly Choice[],
  description: Description,
): Setting<Choice> {
  return setting(name, description, choices.map((one) => `\`${one}\``).join(', '), (text) => {
    const found = choices.find((one) => one === text);
    if (found) return found;
    throw new BadSetting(`"${text}" is not one of ${choices.join(', ')}.`, 'Choose one of them.');
  });
}

export function integer(name: string, min: number, max: number, description: Description): Setting<number> {
  return setting(name, description, `${min} to ${max}`, (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new BadSetting(`"${text}" is not a whole number from ${min} to ${max}.`, 'Give such a number.');
  });
}

export function text(name: string, values: string, description: Description): Setting<string> {
  return setting(name, description, values, (given) => given);
}

/** An address we make links from: what comes after it is appended, so nothing may stand in the way. */
export function baseUrl(name: string, description: Description): Setting<string> {
  return setting(name, description, 'http or https URL', (given) => {
    const url = URL.canParse(given) ? new URL(given) : undefined;
    if (!url || !/^https?:$/.test(url.protocol)) {
      throw new BadSetting(
        `"${given}" is not an http or https URL.`,
        'Give one such as https://id.example.com.',
      );
    }
    if (url.username || url.password || url.search || url.hash) {
      throw new BadSetting(
        'The URL carries credentials, a query or a fragment.',
        'Give scheme, host and path only.',
      );
    }
    if (given.endsWith('/')) throw new BadSetting('The URL ends in a slash.', 'Leave the last slash out.');
    // The text itself is compared by clients (issuer, redirect addresses), so only one spelling is taken.
    const plain = url.origin + (url.pathname === '/' ? '' : url.pathname);
    if (plain !== given) throw new BadSetting(`The URL is not in its plain form.`, `Write it as ${plain}.`);
    return given;
  });
}

export function databaseUrl(name: string, values: string, description: Description): Setting<string> {
  const parse = (given: string) => {
    if (given === 'embedded' || (/^postgres(ql)?:\/\/\S+$/.test(given) && isReadable(given))) return given;
    throw new BadSetting(
      'This is not a PostgreSQL URL.',
      'Give one such as postgres://user:password@host:5432/tollgate.',
    );
  };
  return setting(name, description, values, parse, true);
}

/** Asked of the driver, which also reads what is no URL by the standard, such as `user@/database?host=/run`. */
function isReadable(url: string): boolean {
  try {
    new pg.Client({ connectionString: url });
    return true;
  } catch {
    return false;
  }
}

export function secret(name: string, minLength: number, description: Description): Setting<string> {
  const parse = (given: string) => {
    if (given.length >= minLength) return given;
    throw new BadSetting(
      `The secret has ${given.length} characters; at least ${minLength} are needed.`,
      'Make one with: openssl rand -base64 48',
    );
  };
  return setting(name, description, `at least ${minLength} characters`, parse, true);
}

export function list<Item>(
  name: string,
  values: string,
  parseItem: (text: string) => Item,
  description: Description,
): Setting<Item[]> {
  return setting(name, description, values, (given) =>
    given
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map(parseItem),
  );
}

/** Reads every setting, from the variable or the file that `NAME_FILE` names; goes on after a fault to find them all. */
export function readSettings<S extends Settings>(settings: S, env: NodeJS.ProcessEnv) {
  const faults: Fault[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, one] of Object.entries(settings)) {
    try {
      const given = textOf(one, env) ?? one.fallback.value;
      if (given !== undefined) values[key] = one.parse(given);
    } catch (error) {
      if (!(error instanceof BadSetting)) throw error;
      faults.push({ name: one.name, problem: error.message, remedy: error.remedy });
    }
  }
  return { values: values as Values<S>, faults };
}

function textOf(one: Setting<unknown>, env: NodeJS.ProcessEnv): string | undefined {
  // An empty variable counts as unset: compose files and unit files often pass one on.
  const direct = env[one.name] || undefined;
  const path = one.secret ? env[`${one.name}_FILE`] || undefined : undefined;
  if (!path) return direct;
  if (direct !== undefined) {
    throw new BadSetting(`Both ${one.name} and ${one.name}_FILE are set.`, 'Keep one of the two.');
  }
  try {
    // Editors and `echo` leave a line break at the end, which is no part of the secret.
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new BadSetting(
      `The file named by ${one.name}_FILE cannot be read (${code}).`,
      'Check its path and its rights.',
    );
  }
}
