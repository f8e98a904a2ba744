// "Sign in with us" in one file: openid-client and node:http. Run it beside a local Tollgate (npm start):
//
//   node examples/partner.mjs
//
// and open http://localhost:4000. The phone is +994500000001, the code 111111.
import { createServer } from 'node:http';
import * as oidc from 'openid-client';

const issuer = new URL(process.env.ISSUER ?? 'http://localhost:3000');
const clientId = process.env.CLIENT_ID ?? 'demo-partner';
const clientSecret = process.env.CLIENT_SECRET ?? 'demo-partner-secret';
const home = 'http://localhost:4000';

await fetch(issuer).catch(() => {
  process.stderr.write(
    `No Tollgate answers at ${issuer}. Start one with npm start, or name another in ISSUER.\n`,
  );
  process.exit(1);
});

const config = await oidc.discovery(issuer, clientId, {}, oidc.ClientSecretPost(clientSecret), {
  // For http on this machine only. Leave it out where the issuer is https.
  execute: issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : [],
});

// One person at a time is enough to show it. A real application keeps this in the session of each browser.
let signIn;
let person;

const server = createServer(async (request, response) => {
  const url = new URL(request.url, home);
  const go = (to) => response.writeHead(303, { location: to }).end();
  const show = (html, status = 200) =>
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(html);
  try {
    switch (url.pathname) {
      case '/':
        if (!person) return show('<p>Nobody is signed in. <a href="/sign-in">Sign in</a></p>');
        return show(
          `<pre>${asText(JSON.stringify(person.claims, null, 2))}</pre><a href="/sign-out">Sign out</a>`,
        );

      case '/sign-in': {
        signIn = {
          state: oidc.randomState(),
          nonce: oidc.randomNonce(),
          verifier: oidc.randomPKCECodeVerifier(),
        };
        const to = oidc.buildAuthorizationUrl(config, {
          redirect_uri: `${home}/callback`,
          scope: 'openid profile phone',
          state: signIn.state,
          nonce: signIn.nonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(signIn.verifier),
          code_challenge_method: 'S256',
        });
        return go(to.href);
      }

      case '/callback': {
        const begun = signIn;
        signIn = undefined;
        if (!begun) return go('/');
        const tokens = await oidc.authorizationCodeGrant(config, url, {
          expectedState: begun.state,
          expectedNonce: begun.nonce,
          pkceCodeVerifier: begun.verifier,
          idTokenExpected: true,
        });
        const { sub } = tokens.claims();
        person = {
          idToken: tokens.id_token,
          claims: await oidc.fetchUserInfo(config, tokens.access_token, sub),
        };
        return go('/');
      }

      case '/sign-out': {
        const hint = person?.idToken;
        person = undefined;
        if (!hint) return go('/');
        return go(
          oidc.buildEndSessionUrl(config, { id_token_hint: hint, post_logout_redirect_uri: `${home}/` }).href,
        );
      }

      default:
        return show('<p>Not here.</p>', 404);
    }
  } catch (error) {
    show(`<p>That did not work: ${asText(error.message)}</p><a href="/">Back</a>`, 400);
  }
});
server.listen(4000, 'localhost', () => process.stdout.write(`open ${home}\n`));

function asText(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
