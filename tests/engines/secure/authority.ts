import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execute, requireProgram } from '../programs.ts';

export interface Issued {
  readonly certificate: string;
  readonly privateKey: string;
  /** Files with the same content. */
  readonly files: { readonly certificate: string; readonly privateKey: string };
}

export interface Authority {
  readonly certificate: string;
  readonly file: string;
  /** `until`: end of its validity as YYMMDDHHMMSSZ. */
  issue(names: string, until?: string): Promise<Issued>;
  /** Revokes a certificate; returns the PEM of the list. */
  revoke(issued: Issued): Promise<string>;
}

const config = (folder: string) => `
[ca]
default_ca = ours
[ours]
dir = ${folder}
database = ${folder}/index.txt
serial = ${folder}/serial
crlnumber = ${folder}/crlnumber
new_certs_dir = ${folder}
default_md = sha256
default_crl_days = 30
policy = anything
copy_extensions = copy
unique_subject = no
[anything]
commonName = supplied
[authority]
basicConstraints = critical,CA:true
keyUsage = critical,keyCertSign,cRLSign
`;

/** An authority of OpenSSL's command line in a folder of its own. */
export const createAuthority = async (): Promise<Authority> => {
  requireProgram('openssl');
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-authority-'));
  const at = (name: string) => join(folder, name);
  writeFileSync(at('ca.cnf'), config(folder));
  writeFileSync(at('index.txt'), '');
  writeFileSync(at('serial'), '01');
  writeFileSync(at('crlnumber'), '01');
  const openssl = (...args: string[]) => execute('openssl', args);
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await openssl('req', '-x509', '-new', ...key, '-keyout', at('ca.key'), '-out', at('ca.pem'), '-subj', '/CN=Test CA');
  const signing = ['ca', '-batch', '-notext', '-config', at('ca.cnf'), '-cert', at('ca.pem'), '-keyfile', at('ca.key')];
  let count = 0;
  return {
    certificate: readFileSync(at('ca.pem'), 'utf8'),
    file: at('ca.pem'),
    async issue(names, until = '491231235959Z') {
      const id = `${++count}`;
      const files = { certificate: at(`${id}.pem`), privateKey: at(`${id}.key`) };
      const request = ['-keyout', files.privateKey, '-out', at(`${id}.csr`), '-subj', `/CN=host ${id}`];
      await openssl('req', '-new', ...key, ...request, '-addext', `subjectAltName=${names}`);
      const dates = ['-startdate', '200101000000Z', '-enddate', until];
      await openssl(...signing, ...dates, '-in', at(`${id}.csr`), '-out', files.certificate);
      const read = (file: string) => readFileSync(file, 'utf8');
      return { certificate: read(files.certificate), privateKey: read(files.privateKey), files };
    },
    async revoke({ files }) {
      await openssl(...signing, '-revoke', files.certificate);
      await openssl(...signing, '-gencrl', '-out', at('crl.pem'));
      return readFileSync(at('crl.pem'), 'utf8');
    },
  };
};
