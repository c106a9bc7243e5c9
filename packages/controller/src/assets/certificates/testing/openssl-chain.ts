import { readFile } from 'node:fs/promises';
import { type Folder, makeWithOpenssl } from './openssl.ts';

/** Root and leaf with its key, made by openssl alone. */
export const makeOpensslChain = async (folder: Folder, host = 'leaf.test') => {
  const file = (name: string) => folder.path(name);
  const fresh = ['req', '-x509', '-nodes', '-days', '30', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  const ca = ['-addext', 'basicConstraints=critical,CA:TRUE'];
  await makeWithOpenssl(...fresh, '-keyout', file('root.key'), '-out', file('root.pem'), '-subj', '/CN=Root', ...ca);
  const signer = ['-CA', file('root.pem'), '-CAkey', file('root.key')];
  const names = ['-subj', `/CN=${host}/O=Example`, '-addext', `subjectAltName=DNS:${host},IP:192.0.2.1`];
  await makeWithOpenssl(...fresh, '-keyout', file('leaf.key'), '-out', file('leaf.pem'), ...names, ...signer);
  const read = (name: string) => readFile(file(name), 'utf8');
  return {
    root: await read('root.pem'),
    leaf: await read('leaf.pem'),
    key: await read('leaf.key'),
    otherKey: await read('root.key'),
    /** The key once more, encrypted. */
    encryptKey: async (passphrase: string, options: readonly string[] = []) =>
      (
        await makeWithOpenssl(
          ...['pkcs8', '-topk8', '-in', file('leaf.key'), '-passout', `pass:${passphrase}`, '-v2', 'aes-256-cbc'],
          ...options,
        )
      ).toString(),
    /** Everything in one PKCS#12 file, in base64. */
    exportPkcs12: async (passphrase: string) =>
      (
        await makeWithOpenssl(
          ...['pkcs12', '-export', '-inkey', file('leaf.key'), '-in', file('leaf.pem'), '-certfile', file('root.pem')],
          ...['-passout', `pass:${passphrase}`],
        )
      ).toString('base64'),
    /** Signs a request as an authority outside would. */
    signRequest: async (request: string) => {
      const requestFile = await folder.write('request.pem', request);
      return (
        await makeWithOpenssl('x509', '-req', '-in', requestFile, '-days', '30', '-copy_extensions', 'copy', ...signer)
      ).toString();
    },
  };
};

export type OpensslChain = Awaited<ReturnType<typeof makeOpensslChain>>;
