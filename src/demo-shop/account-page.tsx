import { Json, Shop } from './layout.tsx';
import type { Step, Tokens } from './visitors.ts';

export function AccountPage(view: {
  tokens: Tokens | null;
  person: { profile: unknown; merged: unknown } | undefined;
  steps: Step[];
}) {
  if (!view.tokens || !view.person) {
    return (
      <Shop title="Account">
        <h1>You are not signed in</h1>
        <p>Sign in to see the tokens, your profile, and the accounts that were merged into yours.</p>
        <a class="button" href="/demo/sign-in">
          Sign in
        </a>
        <Steps steps={view.steps} />
      </Shop>
    );
  }
  return (
    <Shop title="Account">
      <h1>Your account</h1>
      <div class="row">
        <form method="post" action="/demo/refresh">
          <button class="button quiet" type="submit">
            Renew the tokens
          </button>
        </form>
        <a class="button quiet" href="/demo/sign-out">
          Sign out everywhere
        </a>
      </div>
      <section class="card">
        <h2>Profile</h2>
        <p class="soft">
          <code>GET /api/v1/openid-connect/userinfo</code> with the access token
        </p>
        <Json value={view.person.profile} />
      </section>
      <section class="card">
        <h2>Merged accounts</h2>
        <p class="soft">
          Ids under which this person was known before: whoever stored one of them finds the person again.
        </p>
        <Json value={view.person.merged} />
      </section>
      <section class="card">
        <h2>Tokens</h2>
        <Decoded name="ID token" token={view.tokens.idToken} />
        <Decoded name="Access token" token={view.tokens.accessToken} />
        <details>
          <summary>Refresh token</summary>
          <pre>{view.tokens.refreshToken}</pre>
        </details>
      </section>
      <Steps steps={view.steps} />
    </Shop>
  );
}

function Steps({ steps }: { steps: Step[] }) {
  if (steps.length === 0) return null;
  return (
    <section class="card">
      <h2>How you got here</h2>
      {steps.map((step, at) => (
        <details key={at}>
          <summary>{step.title}</summary>
          <p class="soft">{step.about}</p>
          <pre>{step.request}</pre>
          <pre>{step.answer}</pre>
        </details>
      ))}
    </section>
  );
}

function Decoded({ name, token }: { name: string; token: string }) {
  const [header = '', claims = ''] = token.split('.');
  return (
    <details>
      <summary>{name}</summary>
      <p class="soft">Header and claims; the third part is the signature.</p>
      <Json value={decoded(header)} />
      <Json value={decoded(claims)} />
      <pre>{token}</pre>
    </details>
  );
}

function decoded(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString() || 'null');
}
