import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Issued {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface Authority extends Issued {
  /** `days`: validity; negative ones are over. */
  issue(name: string, days?: number): Issued;
}

const keyOptions = {
  rsa: ['-newkey', 'rsa:2048'],
  ecdsa: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
} as const;

/** A certificate authority made with openssl. */
export const createAuthority = (kind: keyof typeof keyOptions): Authority => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-ca-'));
  const run = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const key = (name: string) => [...keyOptions[kind], '-nodes', '-keyout', `${name}.key`];
  run('req', '-x509', ...key('ca'), '-subj', '/CN=Test authority', '-days', '30', '-out', 'ca.pem');
  const [certificate, privateKey] = [read('ca.pem'), read('ca.key')];
  rmSync(folder, { recursive: true });
  return {
    certificate,
    privateKey,
    issue(name, days = 30) {
      const folder = mkdtempSync(join(tmpdir(), 'rushhour-ca-'));
      const runThere = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
      writeFileSync(join(folder, 'ca.pem'), certificate);
      writeFileSync(join(folder, 'ca.key'), privateKey);
      writeFileSync(join(folder, 'extensions'), `subjectAltName=DNS:${name}\n`);
      runThere('req', ...key('own'), '-subj', `/CN=${name}`, '-out', 'own.csr');
      const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'extensions'];
      runThere('x509', '-req', '-in', 'own.csr', ...signed, '-days', String(days), '-out', 'own.pem');
      const issued = {
        certificate: readFileSync(join(folder, 'own.pem'), 'utf8'),
        privateKey: readFileSync(join(folder, 'own.key'), 'utf8'),
      };
      rmSync(folder, { recursive: true });
      return issued;
    },
  };
};
