import { existsSync, readFileSync } from 'node:fs';

/** Compiled for the tests, this file lies one folder deeper. */
export const packageRoot = ['../', '../../']
  .map((up) => new URL(up, import.meta.url))
  .find((folder) => existsSync(new URL('package.json', folder))) as URL;

export const { version } = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as {
  version: string;
};
