import type { Certificate } from '@rushhour/contract';
import { text } from '../../lib/text.ts';

const { certificateProblems: words } = text;
export type CertificateFields = NonNullable<Certificate['details']>;
const minRsaBits = 2048;

/** Reasons for a client to refuse the certificate, as far as its fields show them. */
export const problemsOf = (details: CertificateFields, now = Date.now()): string[] => {
  if (details.kind === 'csr') return [];
  const checks: readonly [boolean, string][] = [
    [details.notAfter !== null && Date.parse(details.notAfter) < now, words.expired],
    [details.notBefore !== null && Date.parse(details.notBefore) > now, words.notYetValid],
    [details.selfSigned && !details.isCa, words.selfSigned],
    [details.keyType.startsWith('rsa') && details.keySize < minRsaBits, words.weakKey],
    [/sha-?1(?!\d)/i.test(details.signatureAlgorithm), words.sha1],
    [!details.isCa && details.sanCount === 0, words.noNames],
    [details.revoked, words.revoked],
    [!details.chainComplete && !details.selfSigned, words.chain],
    [details.keyMatch === false, words.key],
  ];
  return checks.filter(([isProblem]) => isProblem).map(([, problem]) => problem);
};
