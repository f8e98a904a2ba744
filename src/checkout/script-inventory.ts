import { hashOf, type PageOptions, pagePermissions, pagePolicy } from '../platform/html.tsx';
import { pageStyle } from '../platform/page-style.ts';
import { payScript } from './pages/pay-script.ts';
import { payStyle } from './pages/pay-style.ts';

/** What every payment page is sent with, besides the colours of a merchant that has some. */
export const payPageOptions = (checkoutUrl: string, themeStyle: string | null): PageOptions => ({
  styles: themeStyle === null ? [payStyle] : [payStyle, themeStyle],
  script: payScript,
  connects: true,
  formAction: [new URL(checkoutUrl).origin],
});

/**
 * All that runs on the page where people type their card, and why, with what vouches for it: for PCI DSS 6.4.3 (each
 * script authorised, its integrity assured, its need written down) and 11.6.1 (what the browser receives is compared
 * with what it should). The build writes it to `dist/script-inventory.json`.
 */
export const scriptInventory = {
  pages: '{CHECKOUT_BASE_URL}/pay/*',
  scripts: [
    {
      name: 'pay-script',
      source: 'src/checkout/pages/pay-script.ts',
      delivery: 'inline',
      integrity: hashOf(payScript),
      bytes: Buffer.byteLength(payScript),
      need: 'Groups and checks the card form before it is sent, keeps a form from being sent twice, counts the time left, asks our own server how a payment stands, and leads back to the shop. It reads the card fields and sends or keeps none of them; every page works without it.',
    },
  ],
  styles: [
    { name: 'page-style', source: 'src/platform/page-style.ts', integrity: hashOf(pageStyle) },
    { name: 'pay-style', source: 'src/checkout/pages/pay-style.ts', integrity: hashOf(payStyle) },
    {
      name: 'theme',
      source: "the merchant's colour, written by themeStyle() in src/checkout/pages/pay-style.ts",
      integrity: 'one hash for each colour, named in the policy of the page',
    },
  ],
  headers: {
    'content-security-policy': pagePolicy(payPageOptions('https://checkout-origin', null)).replace(
      'https://checkout-origin',
      '{checkout-origin}',
    ),
    'cache-control': 'no-store',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': pagePermissions,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'strict-transport-security': 'max-age=31536000 (over https)',
  },
};
