import type { Page } from 'playwright-core';

/** Somebody without a mouse types once the place is marked: a browser moves the focus a moment after a page has loaded. */
export async function focusIsOn(page: Page, selector: string): Promise<void> {
  await page.locator(selector).and(page.locator(':focus')).waitFor();
}

export async function tabTo(page: Page, selector: string): Promise<void> {
  const reached = page.locator(selector).and(page.locator(':focus'));
  for (let presses = 0; presses < 20; presses++) {
    if (await reached.count()) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${selector}`);
}
