import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { focusIsOn } from '../support/by-keyboard.ts';
import { cardFormOf, cards } from '../support/merchant.ts';
import {
  en,
  fillCard,
  goodCard,
  heading,
  linkOf,
  payButton,
  startPayPage,
  walletLink,
} from '../support/pay-page.ts';

const { service, visit, order, read, attemptsOf } = await startPayPage();
const { fields } = en.card;

test('the brand is seen while the number is typed, and the number is grouped as on the card', () =>
  visit({}, async ({ page }) => {
    await page.goto(linkOf(await order()));
    for (const [typed, shown, brand] of [
      ['4242424242424242', '4242 4242 4242 4242', 'Visa'],
      ['5555555555554444', '5555 5555 5555 4444', 'Mastercard'],
      ['2221000000000009', '2221 0000 0000 0009', 'Mastercard'],
      ['378282246310005', '3782 822463 10005', 'American Express'],
      ['2200000000000004', '2200 0000 0000 0004', 'Mir'],
      ['6200000000000005', '6200 0000 0000 0005', 'UnionPay'],
      ['5018000000000009', '5018 0000 0000 0009', 'Maestro'],
      ['9', '9', ''],
      // The longest number there is has nineteen digits; what is typed beyond is left out.
      ['62000000000000000000', '6200 0000 0000 0000 000', 'UnionPay'],
      ['42a4b2', '4242', 'Visa'],
    ] as const) {
      await page.fill('#number', '');
      await page.locator('#number').pressSequentially(typed);
      assert.equal(await page.inputValue('#number'), shown);
      assert.equal(await page.locator('[data-brand]').textContent(), brand);
    }
  }));

test('the caret stays behind its digit when the number is changed in the middle', () =>
  visit({}, async ({ page }) => {
    await page.goto(linkOf(await order()));
    const caret = () => page.evaluate('document.getElementById("number").selectionStart');
    const putCaret = (at: number) =>
      page.evaluate(`document.getElementById("number").setSelectionRange(${at}, ${at})`);
    await page.locator('#number').pressSequentially('42424242');
    await putCaret(2);
    await page.keyboard.type('9');
    assert.deepEqual([await page.inputValue('#number'), await caret()], ['4294 2424 2', 3]);
    await page.keyboard.type('1');
    assert.deepEqual([await page.inputValue('#number'), await caret()], ['4291 4242 42', 4]);
    await page.keyboard.type('7');
    assert.deepEqual([await page.inputValue('#number'), await caret()], ['4291 7424 242', 6]);
    await page.keyboard.press('Backspace');
    assert.deepEqual([await page.inputValue('#number'), await caret()], ['4291 4242 42', 4]);
    await page.keyboard.press('Home');
    await page.keyboard.press('Delete');
    assert.deepEqual([await page.inputValue('#number'), await caret()], ['2914 2424 2', 0]);
    // Behind the space between two groups, backspace takes the digit and not the space for ever.
    await putCaret(5);
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    assert.equal(await page.inputValue('#number'), '2912 4242');
    // As an American Express the groups change, and the caret still stands behind its digit.
    await page.fill('#number', '');
    await page.locator('#number').pressSequentially('78282246310005');
    await page.keyboard.press('Home');
    await page.keyboard.type('3');
    assert.deepEqual([await page.inputValue('#number'), await caret()], ['3782 822463 10005', 1]);
  }));

test('a number is pasted with spaces, hyphens or none, and pays', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    await page.goto(linkOf(payment));
    for (const pasted of ['4242-4242-4242-4242', ' 4242 4242  4242 4242 ', '4242424242424242']) {
      await page.fill('#number', '');
      await page.locator('#number').focus();
      await page.keyboard.insertText(pasted);
      assert.equal(await page.inputValue('#number'), '4242 4242 4242 4242', pasted);
    }
    await page.fill('#expiry', goodCard.expiry);
    await page.fill('#csc', goodCard.csc);
    await page.fill('#holder', 'Gülnarə Əliyeva');
    await payButton(page).click();
    await heading(page, en.paid.title);
    assert.equal((await read(payment)).status, 'succeeded');
  }));

test('the expiry is taken as people write it', () =>
  visit({}, async ({ page }) => {
    await page.goto(linkOf(await order()));
    const expiry = page.locator('#expiry');
    const typed = async (text: string) => {
      await expiry.fill('');
      await expiry.pressSequentially(text);
      await expiry.blur();
      return [await expiry.inputValue(), await page.locator('#expiry-error').innerText()];
    };
    assert.deepEqual(await typed('3/29'), ['3/29', '']);
    assert.deepEqual(await typed('03/2029'), ['03/2029', '']);
    assert.deepEqual(await typed('0329'), ['03/29', '']);
    assert.deepEqual(await typed('1230'), ['12/30', '']);
    assert.deepEqual(await typed('3-2029'), ['3-2029', '']);
    assert.deepEqual(await typed('13/29'), ['13/29', fields.expiry.invalid]);
    assert.deepEqual(await typed('0/29'), ['0/29', fields.expiry.invalid]);
    assert.deepEqual(await typed('03/99'), ['03/99', fields.expiry.invalid]);
    assert.deepEqual(await typed('3/20'), ['3/20', fields.expiry.past]);
    // Whoever takes the slash away can do so.
    await expiry.fill('');
    await expiry.pressSequentially('03');
    assert.equal(await expiry.inputValue(), '03/');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    assert.equal(await expiry.inputValue(), '0');
  }));

test('the security code has three digits, or four on an American Express, and the hint says which', () =>
  visit({}, async ({ page }) => {
    await page.goto(linkOf(await order()));
    const code = page.locator('#csc');
    const fault = async (text: string) => {
      await code.fill(text);
      await code.blur();
      return page.locator('#csc-error').innerText();
    };
    await page.fill('#number', '4242424242424242');
    assert.equal(await page.locator('#csc-hint').innerText(), fields.csc.hint);
    assert.equal(await fault('12'), fields.csc.invalid);
    assert.equal(await fault('1234'), fields.csc.invalid);
    assert.equal(await fault('123'), '');
    await page.fill('#number', '378282246310005');
    assert.equal(await page.locator('#csc-hint').innerText(), en.card.cscOnFront);
    assert.equal(await fault('123'), fields.csc.invalid);
    assert.equal(await fault('1234'), '');
  }));

test('a code that was right for one brand is checked again when the number becomes another', () =>
  visit({}, async ({ page }) => {
    await page.goto(linkOf(await order()));
    await fillCard(page);
    await page.fill('#number', '378282246310005');
    await payButton(page).click();
    await page.getByRole('alert').getByText(en.card.faults.one).waitFor();
    assert.equal(await page.locator('#csc-error').innerText(), fields.csc.invalid);
  }));

test('a field is checked when it is left, not while it is typed, and what was mended is no longer marked', () =>
  visit({}, async ({ page }) => {
    await page.goto(linkOf(await order()));
    const number = page.locator('#number');
    const error = page.locator('#number-error');
    await number.pressSequentially('5555 5555 5555 4441');
    assert.equal(await error.isVisible(), false);
    await page.keyboard.press('Tab');
    assert.equal(await error.innerText(), fields.number.invalid);
    assert.equal(await number.getAttribute('aria-invalid'), 'true');
    assert.equal(await number.getAttribute('aria-describedby'), 'number-error');
    await number.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Backspace');
    assert.equal(await error.isVisible(), true);
    await page.keyboard.type('4');
    assert.equal(await error.isVisible(), false);
    assert.equal(await number.getAttribute('aria-invalid'), null);
    // Somebody who passes through an empty field has made no mistake yet.
    await page.fill('#number', '');
    await page.keyboard.press('Tab');
    assert.equal(await error.isVisible(), false);
  }));

test('the summary takes the focus and its links lead to the fields, with script', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    await page.goto(linkOf(payment));
    await payButton(page).click();
    const summary = page.locator('[role=alert]:focus');
    await summary.waitFor();
    assert.match(await summary.innerText(), /4 fields need your attention/);
    for (const field of ['number', 'expiry', 'csc', 'holder'] as const) {
      assert.equal(await page.locator(`#${field}-error`).innerText(), fields[field].missing);
      await summaryLink(page, fields[field].label).click();
      await focusIsOn(page, `#${field}`);
    }
    await fillCard(page, { csc: '' });
    await payButton(page).click();
    await page.locator('[role=alert]:focus').getByText(en.card.faults.one).waitFor();
    assert.deepEqual(await visibleLinks(page), [fields.csc.label]);
    assert.deepEqual(await attemptsOf(payment.id), []);
    await page.fill('#csc', '123');
    await payButton(page).click();
    await heading(page, en.paid.title);
  }));

test('without script the server checks the same, beside the fields and in a summary that takes the focus', () =>
  visit({ javaScriptEnabled: false }, async ({ page }) => {
    const payment = await order();
    await page.goto(linkOf(payment));
    const answer = async () => {
      const [response] = await Promise.all([
        page.waitForResponse((one) => one.request().method() === 'POST'),
        payButton(page).click(),
      ]);
      return response.status();
    };
    assert.equal(await answer(), 400);
    await focusIsOn(page, '[role=alert]');
    assert.match(await page.title(), /^Error: /);
    for (const field of ['number', 'expiry', 'csc', 'holder'] as const) {
      assert.equal(await page.locator(`#${field}-error`).innerText(), fields[field].missing);
      assert.match(
        (await page.locator(`#${field}`).getAttribute('aria-describedby')) ?? '',
        RegExp(`^${field}-error`),
      );
      assert.equal(await page.locator(`#${field}`).getAttribute('aria-invalid'), 'true');
    }
    await summaryLink(page, fields.csc.label).click();
    await focusIsOn(page, '#csc');
    await page.keyboard.type('987');
    assert.equal(await page.inputValue('#csc'), '987');

    // What may be shown again is there; number and code are typed again.
    await fillCard(page, { number: '4242 4242 4242 4241', expiry: '3/20', csc: '98', holder: 'Ərəb' });
    assert.equal(await answer(), 400);
    assert.equal(await page.locator('#number-error').innerText(), fields.number.invalid);
    assert.equal(await page.locator('#expiry-error').innerText(), fields.expiry.past);
    assert.equal(await page.locator('#csc-error').innerText(), fields.csc.invalid);
    assert.equal(await page.locator('#holder-error').isVisible(), false);
    assert.equal(await page.inputValue('#number'), '');
    assert.equal(await page.inputValue('#csc'), '');
    assert.equal(await page.inputValue('#expiry'), '3/20');
    assert.equal(await page.inputValue('#holder'), 'Ərəb');
    assert.equal(await page.locator('.tries').count(), 0, 'a slip of the finger is no try');

    await fillCard(page, { number: '4242-4242-4242-4242', expiry: '12/2030' });
    assert.equal(await answer(), 303);
    await heading(page, en.paid.title);
    assert.deepEqual(await attemptsOf(payment.id), ['approved']);
    assert.equal((await read(payment)).status, 'succeeded');
  }));

test('script and server agree on every form, and no answer repeats a number or a code', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    await page.goto(linkOf(payment));
    const wrong: [field: keyof typeof goodCard, typed: string][] = [
      ['number', '4242424242424243'],
      ['number', '4242 4242 42'],
      ['number', '4242_4242_4242_4242'],
      ['number', 'ЧЕТЫРЕ'],
      ['number', '42424242424242424242424242'],
      ['number', '0000'],
      ['expiry', '1'],
      ['expiry', '00/30'],
      ['expiry', '12/1930'],
      ['expiry', '12/30/1'],
      ['expiry', 'xx/yy'],
      ['expiry', '1/20'],
      ['csc', '12a'],
      ['csc', '9876'],
      ['csc', '١٢٣'],
      ['holder', '   '],
    ];
    for (const [field, typed] of wrong) {
      const card = { ...goodCard, csc: '842', [field]: typed };
      const answer = await post(payment, card);
      assert.equal(answer.statusCode, 400, `${field} ${typed}`);
      const said = new RegExp(`id="${field}-error">([^<]+)<`).exec(answer.body)?.[1];
      assert.ok(said, `${field} ${typed}`);
      for (const kept of [card.number, card.number.replace(/\D/g, ''), card.csc]) {
        if (kept.length > 2) assert.ok(!visiblePart(answer.body).includes(kept), `${kept} is repeated`);
      }
      // Grouping drops what is no digit, so that those forms cannot even be typed.
      if (field === 'number' && /\D/.test(typed.replaceAll(' ', ''))) continue;
      await fillCard(page, card);
      // As the field would take it from a keyboard: no longer than it lets one type.
      if ((await page.inputValue(`#${field}`)) !== typed && field !== 'number') continue;
      await payButton(page).click();
      await focusIsOn(page, '[role=alert]');
      assert.equal(await page.locator(`#${field}-error`).textContent(), said, `${field} ${typed}`);
    }
    assert.deepEqual(await attemptsOf(payment.id), []);
  }));

test('a number or code in the wrong field is not shown again either', async () => {
  const payment = await order();
  const number = cards.approved.replaceAll(' ', '');
  for (const misplaced of [
    { expiry: number, number: '' },
    { holder: number, number: '' },
    { holder: cards.approved, csc: '' },
    { expiry: '4242-4242-4242-4242', csc: '' },
    { holder: '842', csc: '' },
  ]) {
    const answer = await post(payment, { ...goodCard, ...misplaced });
    assert.equal(answer.statusCode, 400);
    for (const written of [number, cards.approved, '4242-4242-4242-4242', 'value="842"']) {
      assert.ok(!answer.body.includes(written), JSON.stringify(misplaced));
    }
  }
});

test('a form of another kind, twice the same field, or none at all, is no attempt', async () => {
  const payment = await order();
  const url = new URL(linkOf(payment)).pathname;
  const bodies: [type: string, body: string, status: number][] = [
    ['application/json', JSON.stringify({ ...goodCard, attempts: 0 }), 415],
    ['multipart/form-data; boundary=x', '--x--', 415],
    ['application/x-www-form-urlencoded', '', 303],
    ['application/x-www-form-urlencoded', 'attempts=0', 400],
    ['application/x-www-form-urlencoded', `attempts=1&${new URLSearchParams(goodCard)}`, 303],
    ['application/x-www-form-urlencoded', `attempts=-1&${new URLSearchParams(goodCard)}`, 303],
    ['application/x-www-form-urlencoded', `attempts=0&number=1&${new URLSearchParams(goodCard)}`, 400],
  ];
  for (const [type, payload, status] of bodies) {
    const answer = await service.app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': type },
      payload,
    });
    assert.equal(answer.statusCode, status, `${type} ${payload} ${answer.body.slice(0, 200)}`);
  }
  assert.deepEqual(await attemptsOf(payment.id), []);
});

test('fields tell the browser what they are for, and the amount stands on the button', () =>
  visit({}, async ({ page }) => {
    await page.goto(linkOf(await order({ amount: { value: '1234.50', currency: 'AZN' } })));
    assert.equal((await payButton(page).innerText()).trim(), 'Pay 1,234.50\u00a0AZN');
    for (const [field, autocomplete, inputmode] of [
      ['number', 'cc-number', 'numeric'],
      ['expiry', 'cc-exp', 'numeric'],
      ['csc', 'cc-csc', 'numeric'],
      ['holder', 'cc-name', 'text'],
    ]) {
      const input = page.locator(`#${field}`);
      assert.equal(await input.getAttribute('autocomplete'), autocomplete);
      assert.equal(await input.getAttribute('inputmode'), inputmode);
      assert.equal(await input.getAttribute('type'), 'text');
      // Below 16 pixels phones zoom in when a field is entered, and do not zoom out again.
      const size = await page.evaluate(
        `parseFloat(getComputedStyle(document.getElementById('${field}')).fontSize)`,
      );
      assert.ok(Number(size) >= 16, `${field} at ${size}`);
    }
    assert.equal(await walletLink(page).isVisible(), true);
  }));

async function post(payment: Parameters<typeof linkOf>[0], card: Record<string, string>) {
  const url = new URL(linkOf(payment)).pathname;
  const form = cardFormOf((await service.app.inject({ url })).body);
  return service.app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ ...form?.fields, ...card }).toString(),
  });
}

/** Without style, script and drawings, whose constants may hold any three digits. */
function visiblePart(html: string): string {
  return html.replace(/<(style|script|svg)[^>]*>.*?<\/\1>|<link[^>]*>/gs, '');
}

function summaryLink(page: Page, label: string) {
  return page.getByRole('alert').getByRole('link', { name: label, exact: true });
}

function visibleLinks(page: Page): Promise<string[]> {
  return page.getByRole('alert').getByRole('link').allInnerTexts();
}
