import { demoCredentials } from './demo.ts';
import { Page } from './platform/html.tsx';

export type LandingView = {
  version: string;
  env: string;
  urls: { base: string; sso: string; checkout: string };
  adminUrl: string;
};

/** The first page of a local start: what runs here, and what to try it with. */
export function LandingPage({ version, env, urls, adminUrl }: LandingView) {
  const demo = demoCredentials(urls.base);
  return (
    <Page language="en" title="Tollgate">
      <h1>Tollgate is running</h1>
      <p class="soft">
        Single sign-on by phone number, and payments: "sign in with us" and "pay with us" for your partners.
        Version {version}, environment <code>{env}</code>.
      </p>
      <h2>Three things to try</h2>
      <div class="grid">
        <Try title="1. Sign in" href={`${urls.base}/demo/sign-in`} action="Sign in to the demo shop">
          With <code>{demo.people[0]?.phone}</code> and the code <code>{demo.oneTimeCode}</code>. Then see the
          tokens, the profile, the merged accounts, and every step of PKCE.
        </Try>
        <Try title="2. Pay" href={`${urls.base}/demo`} action="Buy something">
          By card <code>{demo.cards[0]?.number}</code>, or from the wallet. Watch the webhook arrive, and give
          part of it back.
        </Try>
        <Try title="3. Break it" href={`${urls.base}/demo/experiments`} action="Break things on purpose">
          A code used twice, a stolen refresh token, a key for two payments: see what the service says.
        </Try>
      </div>
      <h2>Then</h2>
      <div class="grid">
        <Section title="Look around">
          <ul>
            <li>
              <a href={`${urls.base}/swagger-ui/index.html`}>Interactive API reference</a>
            </li>
            <li>
              <a href={`${urls.base}/api`}>API index</a> and{' '}
              <a href={`${urls.base}/api/openapi.json`}>OpenAPI document</a>
            </li>
            <li>
              <a href={`${urls.base}/docs/errors`}>Every error code</a>
            </li>
            <li>
              <a href={`${adminUrl}/health/ready`}>Health</a> and <a href={`${adminUrl}/metrics`}>metrics</a>
            </li>
          </ul>
        </Section>
        <Section title="Read">
          <dl class="stacked">
            <Pair name="in five minutes" value="docs/quick-start.md" />
            <Pair name="sign in with us" value="docs/identity.md" />
            <Pair name="pay with us" value="docs/checkout.md, docs/events.md" />
            <Pair name="run it for real" value="docs/operations.md" />
          </dl>
        </Section>
        <Section title="Addresses">
          <dl class="stacked">
            <Pair name="Identity" value={`${urls.base}/api`} />
            <Pair name="Login pages" value={urls.sso} />
            <Pair name="Checkout" value={urls.checkout} />
          </dl>
        </Section>
      </div>
      <h2>To try it with</h2>
      <div class="grid four">
        <Section title="Demo partner">
          <dl class="stacked">
            <Pair name="Client" value={demo.partner.clientId} />
            <Pair name="Secret" value={demo.partner.clientSecret} />
            <Pair name="Scopes" value={demo.partner.scopes} />
          </dl>
        </Section>
        <Section title="Demo merchant">
          <dl class="stacked">
            <Pair name="Merchant" value={demo.merchant.merchantId} />
            <Pair name="Terminal" value={demo.merchant.terminalId} />
            <Pair name="Client" value={demo.merchant.clientId} />
            <Pair name="Secret" value={demo.merchant.clientSecret} />
          </dl>
        </Section>
        <Section title="Demo people">
          <dl class="stacked">
            {demo.people.map((person) => (
              <Pair key={person.phone} name={person.about} value={person.phone} />
            ))}
            <Pair name="one-time code" value={demo.oneTimeCode} />
          </dl>
        </Section>
        <Section title="Demo cards">
          <dl class="stacked">
            {demo.cards.map((card) => (
              <Pair key={card.number} name={card.about} value={card.number} />
            ))}
          </dl>
        </Section>
      </div>
    </Page>
  );
}

function Try(view: { title: string; href: string; action: string; children: preact.ComponentChildren }) {
  return (
    <section class="card try">
      <h2>{view.title}</h2>
      <p>{view.children}</p>
      <a class="button" href={view.href}>
        {view.action}
      </a>
    </section>
  );
}

function Section(view: { title: string; children: preact.ComponentChildren }) {
  return (
    <section class="card">
      <h2>{view.title}</h2>
      {view.children}
    </section>
  );
}

function Pair(view: { name: string; value: string }) {
  return (
    <>
      <dt>{view.name}</dt>
      <dd>
        <code>{view.value}</code>
      </dd>
    </>
  );
}
