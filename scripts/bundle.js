/**
 * Turns TypeScript into what Node runs. Bundled, a process begins with half the work: the libraries alone are a
 * thousand small files. Run by itself it builds the server and the command line into `dist/`.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { build } from 'esbuild';

/** These look for files of their own beside them. */
const external = ['pino', 'playwright-core'];

/**
 * @param {string[]} entryPoints
 * @param {string} outdir
 */
export async function bundle(entryPoints, outdir) {
  const { outputFiles } = await build({
    entryPoints,
    outdir,
    outbase: outdir === 'dist' ? 'src' : '.',
    external,
    write: false,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
    // Libraries of the older kind ask for Node's modules by `require`, which a module does not have.
    banner: {
      js: "import { createRequire as toRequire } from 'node:module'; const require = toRequire(import.meta.url);",
    },
  });
  for (const { path, contents } of outputFiles) {
    // A server may be running on what was built before, and another one be starting: no file is ever half written.
    if (existsSync(path) && readFileSync(path).equals(contents)) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.${process.pid}`, contents);
    renameSync(`${path}.${process.pid}`, path);
  }
}

if (process.argv[1] === import.meta.filename) await bundle(['src/main.ts', 'src/cli.ts'], 'dist');
