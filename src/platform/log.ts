import pg from 'pg';
import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** Nothing with such a name is ever meant for a log; whoever logs one by mistake gets the mark instead. */
const secretNames = new Set([
  'authorization',
  'cookie',
  'set-cookie',
  'password',
  'secret',
  'client_secret',
  'clientSecret',
  'code',
  'code_verifier',
  'codeVerifier',
  'token',
  'access_token',
  'accessToken',
  'refresh_token',
  'refreshToken',
  'id_token',
  'idToken',
  'id_token_hint',
  'pin',
  'idCardNumber',
  'cardNumber',
  'number',
  'csc',
  'securityCode',
  'otp',
  'phone',
]);

/** JSON lines on standard output. Bodies, headers and query strings are never logged; this is the second wall. */
export function createLogger(options: {
  level: string;
  destination?: DestinationStream;
  onOutputLost?: () => void;
}): Logger {
  const logger = pino(
    {
      level: options.level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: hideSecrets },
      serializers: { err: describeError },
    },
    options.destination ?? standardOutput(options.onOutputLost),
  );
  const child = logger.child;
  // The formatter sees what is logged, not what a child carries along. Its own children come through here as well.
  logger.child = function (this: typeof logger, bindings, childOptions) {
    return child.call(this, hideSecrets(bindings), childOptions);
  } as typeof child;
  return logger;
}

/**
 * The same object, or a copy without its secrets, three levels deep. One look at each name is enough, where the
 * library's own redaction tries every path on every value. Errors are described by their serializer.
 */
function hideSecrets<Value extends object>(value: Value, levels = 3): Value {
  let shown = value;
  for (const name in value) {
    const inside = value[name];
    if (inside === undefined || name === 'err') continue;
    const isDeeper = levels > 1 && typeof inside === 'object' && inside !== null;
    const safe = secretNames.has(name) ? '[secret]' : isDeeper ? hideSecrets(inside, levels - 1) : inside;
    if (safe === inside) continue;
    if (shown === value) shown = (Array.isArray(value) ? [...value] : { ...value }) as Value;
    Object.assign(shown, { [name]: safe });
  }
  return shown;
}

function standardOutput(onLost = () => {}): DestinationStream {
  // The smallest length at which `flush` waits for what has been written.
  const output = pino.destination({ sync: false, minLength: 1 });
  output.on('error', () => {
    // A reader that is gone, or a terminal that is closed: at exit the library would try to write there for ever.
    Object.assign(output, { write: () => true, flushSync: () => {} });
    onLost();
  });
  return output;
}

/** A database error carries the offending row in its details, so only its safe parts are taken over. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const message = messageOf(error);
  const stack = error.stack?.replace(error.message, () => message);
  const described = { type: error.name, message, stack, reason: reasonOf(error) };
  return error.cause instanceof Error ? { ...described, cause: describeError(error.cause) } : described;
}

function reasonOf(error: Error): string | undefined {
  if (!(error instanceof pg.DatabaseError)) return (error as NodeJS.ErrnoException).code;
  return [error.code, error.schema, error.table, error.constraint].filter(Boolean).join(' ');
}

/** A value that PostgreSQL cannot read (class 22) stands in the message itself, in quotes. */
function messageOf(error: Error): string {
  const quotesValue = error instanceof pg.DatabaseError && error.code?.startsWith('22');
  return quotesValue ? error.message.replace(/".*"/s, '"…"') : error.message;
}
