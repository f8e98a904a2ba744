import { existsSync, readFileSync } from 'node:fs';

/** The nearest folder above with a package of its own: how far above depends on what this file was bundled into. */
export const packageRoot = (function find(folder: URL): URL {
  if (existsSync(new URL('package.json', folder))) return folder;
  if (folder.pathname === '/') throw new Error('Tollgate lies in no folder with a package.json.');
  return find(new URL('..', folder));
})(new URL('.', import.meta.url));

export const { version } = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as {
  version: string;
};
