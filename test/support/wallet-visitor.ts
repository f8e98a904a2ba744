import type { TestApp } from './app.ts';
import type { PaymentAnswer } from './merchant.ts';
import { demo, type Form, formsOf, logInThrough, redirectOf, Visitor } from './partner.ts';

/** Somebody without a browser who has signed in to pay, as far as the way back to the payment page. */
export async function comeBackToPay(
  service: TestApp,
  link: string,
  phone: string,
  visitor = new Visitor(service),
) {
  const login = redirectOf(await visitor.get(`${link}/wallet`));
  const back = await logInThrough(visitor, login.href, { phone, code: demo.code });
  return { back, visitor };
}

/** The same, who now sees the page that asks for confirmation; there is no form on it when too little is in the wallet. */
export async function signInToPay(service: TestApp, payment: PaymentAnswer, phone: string, former?: Visitor) {
  const { back, visitor } = await comeBackToPay(service, payment.confirmation.confirmationUrl, phone, former);
  const there = redirectOf(await visitor.get(back.href)).href;
  const page = await visitor.get(there);
  const found = formsOf(page.body).find(({ action }) => action.includes('/wallet/confirm'));
  return {
    payment,
    visitor,
    there,
    form: (): Form => {
      if (!found) throw new Error(`no form but ${page.statusCode} ${page.headers.location ?? ''}`);
      return found;
    },
    confirm: (form: Form) => visitor.post(form.action, form.fields),
  };
}
