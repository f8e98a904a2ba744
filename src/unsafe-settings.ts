import type { CheckoutEnvironment, ServerConfig } from './config.ts';
import type { Fault, Values } from './platform/settings.ts';
import { settings } from './setting-table.ts';

/** What would let somebody in or lose money where it counts. Each is a reason not to start. */
export function unsafeSettings(
  values: Values<typeof settings>,
  urls: ServerConfig['urls'],
  chosen: {
    testPhones: string[];
    acquirer: string | undefined;
    checkoutEnv: CheckoutEnvironment;
  },
): Fault[] {
  const faults: Fault[] = [];
  const refuse = (name: string, problem: string, remedy: string) => faults.push({ name, problem, remedy });

  for (const [name, url] of [
    ['BASE_URL', urls.base],
    ['SSO_URL', urls.sso],
    ['CHECKOUT_BASE_URL', urls.checkout],
  ] as const) {
    if (url.startsWith('http:')) refuse(name, `${url} is not https.`, 'Give an https address.');
  }
  for (const [key, { name, secret }] of Object.entries(settings)) {
    // A database's address is as secret as its password, but it is not made of one word that could be compared.
    if (!secret || name.endsWith('DATABASE_URL')) continue;
    const value = values[key as keyof typeof values];
    if (typeof value === 'string' && isDemoSecret(value))
      refuse(name, 'It is a known demo value.', 'Make one with: openssl rand -base64 48');
  }
  if (values.trustProxy === undefined) {
    // We speak plain HTTP, so here somebody else ends TLS: without it all callers would share one address for every limit.
    refuse('TRUST_PROXY', 'It is not set.', 'Name the proxies in front, or say none when there are none.');
  }
  if (chosen.testPhones.length > 0) {
    refuse('TEST_PHONES', 'Numbers with a fixed code would let anybody in.', 'Leave it out.');
  }
  if ((values.smsSender ?? 'console') === 'console') {
    refuse('SMS_SENDER', 'The console sender writes one-time codes to the log.', 'Choose http or smpp.');
  }
  if (values.smsSender === 'http' && values.smsHttpUrl?.startsWith('http:')) {
    refuse('SMS_HTTP_URL', 'One-time codes would travel in the clear.', 'Give an https address.');
  }
  if (chosen.checkoutEnv === 'production' && chosen.acquirer === 'sandbox') {
    refuse('ACQUIRER', 'The sandbox takes no real money.', 'Choose http or none.');
  }
  if (values.acquirer === 'http' && values.acquirerUrl?.startsWith('http:')) {
    refuse('ACQUIRER_URL', 'Card numbers would travel in the clear.', 'Give an https address.');
  }
  if (values.databaseUrl === undefined) {
    refuse(
      'DATABASE_URL',
      'It is not set.',
      'Name a PostgreSQL, or ask for the built-in one with DATABASE_URL=embedded.',
    );
  }
  return faults;
}

/** Every secret that stands in this repository or its documentation is known to the whole world. */
function isDemoSecret(value: string): boolean {
  const isShown =
    /tollgate-demo|demo-(partner|merchant)-secret|change-?me|your-secret|^(password|secret)$/i.test(value);
  // SMPP has room for eight characters only, of which some may well be the same.
  return isShown || new Set(value).size < Math.min(8, value.length / 2);
}
