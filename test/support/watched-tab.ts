import assert from 'node:assert/strict';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

export type Tabs = { page: Page; context: BrowserContext; openTab(): Promise<Page>; script: boolean };

/**
 * A browser of a person's own. When the story is over it must not have asked anybody but the origins named, and must
 * not have complained of anything, be it a policy or a script, except that a page said no.
 */
export async function inBrowser(
  browser: Browser,
  { origins, ...options }: BrowserContextOptions & { origins: string[] },
  story: (tabs: Tabs) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 360, height: 740 }, ...options });
  context.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  const outside: string[] = [];
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== 'data:' && !origins.includes(origin)) outside.push(request.url());
  });
  context.on('console', (message) => {
    const isRefusal = /^Failed to load resource: the server responded with a status of 4\d\d /.test(
      message.text(),
    );
    if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(error.error().message));
  context.on('response', (response) => {
    const isPage = response.request().resourceType() === 'document';
    if (response.status() >= (isPage ? 500 : 400)) complaints.push(`${response.status()} ${response.url()}`);
  });
  const openTab = () => context.newPage();
  try {
    await story({ page: await openTab(), context, openTab, script: options.javaScriptEnabled ?? true });
    assert.deepEqual(complaints, []);
    assert.deepEqual(outside, []);
  } finally {
    await context.close();
  }
}
