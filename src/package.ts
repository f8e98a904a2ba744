import { readFileSync } from 'node:fs';

export const packageRoot = new URL('../', import.meta.url);

export const { version } = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as {
  version: string;
};
