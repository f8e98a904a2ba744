import { setMerchantTheme } from '../../src/checkout/store/merchants.ts';
import { ringLogo } from '../../test/support/logo.ts';
import { demoMerchant } from '../../test/support/merchant.ts';
import { type PayState, payStates } from '../../test/support/pay-states.ts';
import type { Studio } from './studio.ts';

const confirmation = { returnUrl: 'http://localhost:4000/thanks', locale: 'en' };

/** Makes a payment for every state that a page shows, and photographs each. */
export async function photographPayments(studio: Studio): Promise<void> {
  const { db } = studio.service;
  const states = await payStates(studio.service, confirmation);
  for (const state of states) await photographState(studio, state);

  await setMerchantTheme(db, demoMerchant.merchantId, { logo: ringLogo(64), accent: '#c2410c' });
  // The terms of a merchant are kept for a second.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const form = states.find(({ name }) => name === 'form');
  if (form) await photographState(studio, { ...form, name: 'form-themed', landmark: '.logo' });
}

async function photographState({ openPage, photograph }: Studio, state: PayState): Promise<void> {
  const page = await openPage();
  const { origin } = new URL(state.url);
  const cookies = Object.entries(state.cookies ?? {});
  await page.context().addCookies(cookies.map(([name, value]) => ({ name, value, url: origin })));
  await page.goto(state.url);
  await state.act?.(page);
  await photograph(page, `pay-${state.name}`, state.landmark);
  await page.context().close();
}
