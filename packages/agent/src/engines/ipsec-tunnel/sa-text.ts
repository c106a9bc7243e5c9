import {
  type ChildSa,
  encryptionId,
  formatAddress,
  groupId,
  type IkeSa,
  integrityId,
  prfId,
  type Suite,
  type TrafficSelector,
} from '@rushhour/wire';
import { writeWords } from '../../net/ipsec/ike-udp.ts';

const namesOf = (ids: Readonly<Record<string, number>>): ReadonlyMap<number, string> =>
  new Map(Object.entries(ids).map(([name, id]) => [id, name]));

const prfs = namesOf(prfId);
const groups = namesOf(groupId);
const integrities = namesOf(integrityId);
const encryptions: Readonly<Record<number, (keyBits: number) => string>> = {
  [encryptionId.tripleDes]: () => '3des',
  [encryptionId.null]: () => 'null',
  [encryptionId.aesCbc]: (bits) => `aes${bits}`,
  [encryptionId.aesCtr]: (bits) => `aes${bits}ctr`,
  [encryptionId.aesGcm8]: (bits) => `aes${bits}gcm8`,
  [encryptionId.aesGcm12]: (bits) => `aes${bits}gcm12`,
  [encryptionId.aesGcm16]: (bits) => `aes${bits}gcm16`,
  [encryptionId.aesGmac]: (bits) => `aes${bits}gmac`,
  [encryptionId.chacha20Poly1305]: () => 'chacha20poly1305',
};

/** A proposal as strongSwan writes it, such as aes256gcm16-prfsha256-curve25519. */
export const suiteText = ({ encryption, keyBits, integrity, prf, group, additional, hasEsn }: Suite): string =>
  [
    encryptions[encryption]?.(keyBits) ?? String(encryption),
    ...(integrity === integrityId.none ? [] : [integrities.get(integrity)]),
    ...(prf === 0 ? [] : [`prf${prfs.get(prf)}`]),
    ...(group === groupId.none ? [] : [groups.get(group)]),
    ...(additional === groupId.none ? [] : [`ke1_${groups.get(additional)}`]),
    ...(hasEsn ? ['esn'] : []),
  ].join('-');

export const addressText = (bytes: Uint8Array): string => {
  const words = new Int32Array(4);
  writeWords(bytes, words, 0);
  return formatAddress(words, 0);
};

const selectorText = ({ start, end }: TrafficSelector): string => {
  const [first, last] = [addressText(start), addressText(end)];
  return first === last ? first : `${first}-${last}`;
};

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const spiText = (spi: number): string => spi.toString(16).padStart(8, '0');

/** Cells of an IKE SA: its peer, SPIs and algorithms. */
export const ikeCells = (sa: IkeSa) => ({
  peer: addressText(sa.route.remoteAddress),
  local: addressText(sa.route.localAddress),
  role: sa.isInitiator ? 'initiator' : 'responder',
  initiatorSpi: hexOf(sa.initiatorSpi),
  responderSpi: hexOf(sa.responderSpi),
  ikeProposal: sa.suite === undefined ? '' : suiteText(sa.suite),
  encapsulation: sa.hasNat ? 'UDP' : 'none',
});

/** Cells of a child SA: its SPIs, algorithms and selectors. */
export const childCells = ({ inbound, outbound, suite, local, remote }: ChildSa) => ({
  inboundSpi: spiText(inbound.spi),
  outboundSpi: spiText(outbound.spi),
  espProposal: suiteText(suite),
  localSelector: local.map(selectorText).join(', '),
  remoteSelector: remote.map(selectorText).join(', '),
});
