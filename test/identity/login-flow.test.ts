import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../support/app.ts';
import {
  authorizeUrl,
  bearer,
  claimsOf,
  demo,
  logIn,
  newPkce,
  redirectOf,
  refresh,
  type Tokens,
  Visitor,
} from '../support/partner.ts';

const service = await startTestApp();

test('a person logs in, and the partner reads the profile, refreshes and logs out', async () => {
  const tokens = await logIn(service);
  assert.equal(tokens.token_type, 'Bearer');
  assert.equal(tokens.expires_in, 300);
  assert.deepEqual(claimsOf(tokens.access_token).preferred_username, demo.phone);

  const profile = await service.app.inject({
    url: '/api/v1/openid-connect/userinfo',
    headers: bearer(tokens.access_token),
  });
  assert.equal(profile.statusCode, 200);
  assert.equal(profile.json().firstName, 'Aysel');
  assert.equal(profile.json().pin, '5DEMO01');

  const history = await service.app.inject({
    url: '/api/v1/openid-connect/userinfo/history/merged',
    headers: bearer(tokens.access_token),
  });
  assert.equal(history.json().oldCustomerIds.length, 2);

  const refreshed = (await refresh(service, tokens.refresh_token)).json<Tokens>();
  assert.notEqual(refreshed.refresh_token, tokens.refresh_token);
  assert.equal(refreshed.session_state, tokens.session_state);

  const out = await service.app.inject({
    method: 'POST',
    url: '/api/v1/identity/logout',
    headers: bearer(refreshed.access_token),
  });
  assert.equal(out.statusCode, 204);
  assert.equal((await refresh(service, refreshed.refresh_token)).statusCode, 400);
  const after = await service.app.inject({
    url: '/api/v1/openid-connect/userinfo',
    headers: bearer(tokens.access_token),
  });
  assert.equal(after.statusCode, 401);
});

test('a second partner visit in the same browser needs no login', async () => {
  const visitor = new Visitor(service);
  const { session_state: sid } = await logIn(service, { visitor });
  const again = redirectOf(await visitor.get(authorizeUrl(service, newPkce())));
  assert.equal(again.searchParams.get('session_state'), sid);
  assert.ok(again.searchParams.get('code'));
});
