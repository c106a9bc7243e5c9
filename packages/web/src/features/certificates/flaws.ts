import type { Certificate } from '@rushhour/contract';
import { text } from '../../lib/text.ts';

const { certificateProblems: flaws } = text;
type Details = NonNullable<Certificate['details']>;
const leastRsaBits = 2048;

/** What a careful client would not accept, as far as the certificate itself tells. */
export const flawsOf = (details: Details, now = Date.now()): string[] => {
  if (details.kind === 'csr') return [];
  const found: readonly [boolean, string][] = [
    [details.notAfter !== null && Date.parse(details.notAfter) < now, flaws.expired],
    [details.notBefore !== null && Date.parse(details.notBefore) > now, flaws.notYetValid],
    [details.selfSigned && !details.isCa, flaws.selfSigned],
    [details.keyType.startsWith('rsa') && details.keySize < leastRsaBits, flaws.weakKey],
    [/sha-?1(?!\d)/i.test(details.signatureAlgorithm), flaws.sha1],
    [!details.isCa && details.sanCount === 0, flaws.noNames],
    [details.revoked, flaws.revoked],
    [!details.chainComplete && !details.selfSigned, flaws.chain],
    [details.keyMatch === false, flaws.key],
  ];
  return found.filter(([isSo]) => isSo).map(([, sentence]) => sentence);
};
