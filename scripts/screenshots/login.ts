import { newPkce } from '../../test/support/partner.ts';
import { addClient } from '../../test/support/sessions.ts';
import type { Studio } from './studio.ts';

const phone = '+994501234567';
const callback = 'http://localhost:4000/callback';
const afterLogout = 'http://localhost:4000/';

/** Goes through a login, and photographs every page on the way. */
export async function photographLogin(studio: Studio): Promise<void> {
  const { service } = studio;
  const { sso } = service.config.server.urls;
  const clientId = await addClient(service.db, {
    name: 'Corner Shop',
    audience: 'external',
    scopes: ['openid', 'profile', 'phone'],
    redirectUris: [callback],
    postLogoutRedirectUris: [afterLogout],
    identityDocuments: false,
  });
  const codeSent = () => /\b\d{6}\b/.exec(service.texts.at(-1)?.text ?? '')?.[0] ?? '';
  const page = await studio.openPage();
  const photograph = (name: string, landmark: string) => studio.photograph(page, `login-${name}`, landmark);
  const request = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    scope: 'openid profile phone',
    state: 'state-1',
    redirect_uri: callback,
    code_challenge: newPkce().challenge,
    code_challenge_method: 'S256',
  });
  const submit = () => page.locator('main form button').first().click();

  await page.goto(`${sso}/auth/ssoValidateUser?${request}`);
  await photograph('phone', '#phone');
  await page.fill('#phone', '050 123');
  await submit();
  await photograph('phone-error', '#phone-error');
  await page.fill('#phone', phone);
  await submit();
  await photograph('code', '#code');
  await page.fill('#code', codeSent() === '123456' ? '654321' : '123456');
  await photograph('code-wrong', '#code-error');
  await page.fill('#code', codeSent());
  await photograph('consent', '[name=decision]');

  await page.goto(`${sso}/auth/ssoValidateUser?client_id=unknown`);
  await photograph('message', '.sign.bad');
  await page.goto(
    `${sso}/auth/logout?${new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: afterLogout })}`,
  );
  await photograph('logout-confirm', '.sign.plain');
  await page.goto(`${sso}/auth/logout`);
  await submit();
  await photograph('signed-out', '.sign.good');
}
