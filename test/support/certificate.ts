import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

/**
 * A certificate for this name, signed by itself and made for this run: no key lies in the repository. Undefined where
 * there is no openssl.
 */
export function makeCertificate(name: string): { file: string; key: string; cert: string } | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-certificate-'));
  after(() => rmSync(folder, { recursive: true }));
  const [keyFile, file] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  const output = ['-nodes', '-keyout', keyFile, '-out', file, '-days', '2'];
  try {
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...output, ...subject], {
      stdio: 'ignore',
    });
    return { file, key: readFileSync(keyFile, 'utf8'), cert: readFileSync(file, 'utf8') };
  } catch {
    return undefined;
  }
}
