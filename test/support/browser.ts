import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { after } from 'node:test';
import { type Browser, chromium } from 'playwright-core';

const places = [
  process.env.CHROMIUM_PATH,
  // The same engine without windows around it, at about half the cost.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** Makes sure that there is a Chromium: on Debian, as root, by installing it. */
export async function installBrowser(): Promise<void> {
  if (findChromium()) return;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error('The page tests need Chromium: install it, or name one in CHROMIUM_PATH.');
  }
  process.stdout.write('installing Chromium for the page tests\n');
  execFileSync('apt-get', ['update'], { stdio: 'ignore' });
  const packages = ['chromium-headless-shell', 'fonts-dejavu-core', 'curl'];
  execFileSync('apt-get', ['install', '-y', '--no-install-recommends', ...packages], {
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (!findChromium()) throw new Error('Chromium was installed but is not found; name it in CHROMIUM_PATH.');
}

/** One browser for a test file; each test opens a context of its own. */
export async function startBrowser(): Promise<Browser> {
  const browser = await launchBrowser();
  after(() => browser.close());
  return browser;
}

/** The caller closes it. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('no Chromium; `npm test` looks for one and installs it where it can');
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}

function findChromium(): string | undefined {
  return places.find((place) => place && existsSync(place));
}
