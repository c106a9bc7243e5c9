import type { CipherSpec } from '../crypto.ts';
import {
  type Encryption,
  findEncryption,
  findGroup,
  findIntegrity,
  findPrf,
  isCombined,
  isEncapsulation,
} from './algorithms.ts';
import { encryptionId, groupId, integrityId, protocolId, transformType } from './numbers.ts';
import type { Proposal, Transform } from './payloads.ts';

/** Algorithms that one proposal offers, each list in order of preference. */
export interface Offer {
  readonly encryptions: readonly Encryption[];
  readonly integrities: readonly number[];
  /** Empty for ESP. */
  readonly prfs: readonly number[];
  /** Empty for ESP without a key exchange of its own. */
  readonly groups: readonly number[];
  /** Second key exchange of an IKE SA (RFC 9370); 0: none is needed. Absent: there is none. */
  readonly additional?: readonly number[];
  /** ESP: 1 for extended sequence numbers. */
  readonly sequences: readonly number[];
}

/** What two peers have agreed on. */
export interface Suite extends CipherSpec {
  readonly prf: number;
  readonly group: number;
  /** Second key exchange; 0: none. */
  readonly additional: number;
  readonly hasEsn: boolean;
}

const listOf = <T>(text: string, find: (name: string) => T | undefined, what: string): T[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .map((name) => {
      const found = find(name);
      if (found === undefined) throw new RangeError(`"${name}" is not a known ${what}`);
      return found;
    });

/** A key exchange and the one after it, such as curve25519+mlkem768; strongSwan writes x25519-ke1_mlkem768. */
const findExchange = (name: string): readonly [number, number] | undefined => {
  const [first = '', second, ...more] = name.replace(/-ke1_/i, '+').split('+');
  const group = findGroup(first);
  const additional = second === undefined ? groupId.none : findGroup(second);
  const isUnusable = group === undefined || isEncapsulation(group) || additional === undefined || more.length > 0;
  return isUnusable ? undefined : [group, additional];
};

/** Offers of an IKE SA. Ciphers with their own integrity are offered apart from the others. */
export const ikeOffers = ({
  encryption = 'aes256',
  prf = 'sha256',
  group = 'curve25519',
}: {
  readonly encryption?: string | undefined;
  readonly prf?: string | undefined;
  readonly group?: string | undefined;
}): Offer[] => {
  const encryptions = listOf(encryption, findEncryption, 'cipher of IKE');
  const unusable = encryptions.find(({ id }) => id === encryptionId.null || id === encryptionId.aesGmac);
  if (unusable !== undefined) throw new RangeError('IKE has to encrypt: neither null nor gmac can be used');
  const prfs = listOf(prf, findPrf, 'pseudo-random function');
  const integrities = listOf(prf, findIntegrity, 'integrity algorithm');
  const exchanges = listOf(group, findExchange, 'key exchange');
  const groups = [...new Set(exchanges.map(([first]) => first))];
  const seconds = [...new Set(exchanges.map(([, second]) => second))];
  const additional = seconds.some((id) => id !== groupId.none) && { additional: seconds };
  const offerOf = (isOfCombined: boolean): Offer[] => {
    const some = encryptions.filter(({ id }) => isCombined(id) === isOfCombined);
    const common = { prfs, groups, sequences: [], ...additional };
    return some.length === 0 ? [] : [{ encryptions: some, integrities: isOfCombined ? [] : integrities, ...common }];
  };
  return [...offerOf(true), ...offerOf(false)];
};

const noEncryption: Encryption = { id: encryptionId.null, keyBits: 0 };

/** `encrypts` false: integrity only, by GMAC where the cipher is GCM. */
const withoutEncryption = ({ id, keyBits }: Encryption): Encryption =>
  isCombined(id) && id !== encryptionId.chacha20Poly1305 ? { id: encryptionId.aesGmac, keyBits } : noEncryption;

/**
 * The offer of a child SA by a proposal such as aes256gcm16, aes128-sha256, null-sha256, aes256gcm16-modp2048 or
 * aes128gcm16-esn. A cipher without integrity is taken with SHA-256.
 */
export const espOffer = (
  text: string,
  { group, encrypts = true }: { readonly group?: number | undefined; readonly encrypts?: boolean } = {},
): Offer => {
  const [cipher = '', ...rest] = joined(text);
  const found = findEncryption(cipher);
  if (found === undefined) throw new RangeError(`"${cipher}" is not a known cipher of ESP`);
  const encryption = encrypts ? found : withoutEncryption(found);
  const integrities: number[] = [];
  const groups: number[] = group === undefined ? [] : [group];
  const sequences: number[] = [];
  for (const name of rest) {
    const [integrity, exchange] = [findIntegrity(name), findGroup(name)];
    if (name === 'esn') sequences.push(1);
    else if (name === 'noesn') sequences.push(0);
    else if (integrity !== undefined) integrities.push(integrity);
    else if (exchange !== undefined) groups.push(exchange);
    else throw new RangeError(`"${name}" is not a known part of an ESP proposal`);
  }
  return {
    encryptions: [encryption],
    integrities: isCombined(encryption.id) ? [] : integrities.length > 0 ? integrities : [integrityId.sha256],
    prfs: [],
    groups,
    sequences: sequences.length > 0 ? sequences : [0],
  };
};

/** Parts of a proposal; spellings such as AES-256-CBC-HMAC-SHA1 are joined to aes256cbc, sha1. */
const joined = (text: string): string[] => {
  const plain = text.trim().toLowerCase().replaceAll(/[_ ]/g, '-');
  const head =
    /^(null-aes|aes|null|3des|chacha20)?-?(poly1305|128|192|256)?-?(cbc|ctr|gmac|gcm-?(?:8|12|16|64|96|128)?)?/.exec(
      plain,
    );
  const cipher = head?.[0] ?? '';
  const rest = plain
    .slice(cipher.length)
    .split('-')
    .filter((part) => part !== '' && part !== 'hmac');
  return [cipher.replaceAll('-', ''), ...rest];
};

const transformsOfOffer = new WeakMap<Offer, Transform[]>();

const transformsOf = (offer: Offer): Transform[] => {
  const transforms = transformsOfOffer.get(offer) ?? newTransforms(offer);
  transformsOfOffer.set(offer, transforms);
  return transforms;
};

const newTransforms = ({ encryptions, integrities, prfs, groups, sequences, additional = [] }: Offer): Transform[] => [
  ...encryptions.map(({ id, keyBits }) => ({
    type: transformType.encryption,
    id,
    ...(hasKeyLength(id) && { keyBits }),
  })),
  ...prfs.map((id) => ({ type: transformType.prf, id })),
  ...integrities.map((id) => ({ type: transformType.integrity, id })),
  ...groups.map((id) => ({ type: transformType.group, id })),
  ...sequences.map((id) => ({ type: transformType.esn, id })),
  ...additional.map((id) => ({ type: transformType.additionalExchange, id })),
];

const fixedKeys: ReadonlySet<number> = new Set([
  encryptionId.chacha20Poly1305,
  encryptionId.null,
  encryptionId.tripleDes,
]);

const hasKeyLength = (encryption: number): boolean => !fixedKeys.has(encryption);

const withoutGroups = (offer: Offer): Offer => (offer.groups.length === 0 ? offer : { ...offer, groups: [] });

/** Proposals of an SA payload. `hasGroups` false: without key exchange, as in IKE_AUTH. */
export const proposalsOf = (
  offers: readonly Offer[],
  { spi, hasGroups = true }: { readonly spi: Uint8Array; readonly hasGroups?: boolean },
): Proposal[] =>
  offers.map((offer, index) => ({
    number: index + 1,
    protocol: offer.prfs.length > 0 ? protocolId.ike : protocolId.esp,
    spi,
    transforms: transformsOf(hasGroups ? offer : withoutGroups(offer)),
  }));

export interface Choice {
  readonly suite: Suite;
  /** The answer: one transform of each type. */
  readonly proposal: Proposal;
}

/**
 * The first proposal that one of the offers accepts, with the algorithms that the offer prefers. `group`: the key
 * exchange that the peer has already begun is taken if it is acceptable.
 */
export const chooseProposal = (
  proposals: readonly Proposal[],
  offers: readonly Offer[],
  { group, hasGroups = true }: { readonly group?: number | undefined; readonly hasGroups?: boolean } = {},
): Choice | undefined => {
  for (const proposal of proposals) {
    for (const offer of offers) {
      const accepted = chooseFrom(proposal, hasGroups ? offer : withoutGroups(offer), group);
      if (accepted !== undefined) return accepted;
    }
  }
  return undefined;
};

const transformTypes = Object.values(transformType);

/** The first of the transforms that a type has, the preferred key exchange before all others. */
const findCommon = (
  given: readonly Transform[],
  { wanted, type, group }: { wanted: readonly Transform[]; type: number; group: number | undefined },
): Transform | undefined => {
  let found: Transform | undefined;
  for (const one of wanted) {
    if (one.type !== type || isNone(one) || !given.some((other) => isSameTransform(one, other))) continue;
    if (type !== transformType.group || one.id === group) return one;
    found ??= one;
  }
  return found;
};

const chooseFrom = (proposal: Proposal, offer: Offer, group: number | undefined): Choice | undefined => {
  if (proposal.protocol !== (offer.prfs.length > 0 ? protocolId.ike : protocolId.esp)) return undefined;
  const wanted = transformsOf(offer);
  const chosen: Transform[] = [];
  for (const type of transformTypes) {
    const isOfType = (one: Transform) => one.type === type;
    // Most suites have no transform of some types.
    if (!wanted.some(isOfType) && !proposal.transforms.some(isOfType)) continue;
    const given = proposal.transforms.filter((one) => one.type === type && !isNone(one));
    const own = wanted.filter((one) => one.type === type && !isNone(one));
    if (given.length === 0 && own.length === 0) continue;
    // Without a transform for them, sequence numbers have 32 bits.
    if (given.length === 0 && type === transformType.esn && own.some(({ id }) => id === 0)) continue;
    const common = findCommon(given, { wanted: own, type, group });
    const isOptional = given.length < proposal.transforms.filter((one) => one.type === type).length;
    const isDispensable =
      type === transformType.additionalExchange && wanted.some((one) => one.type === type && isNone(one));
    if (common === undefined && isDispensable && (given.length === 0 || isOptional)) {
      if (isOptional) chosen.push({ type, id: groupId.none });
      continue;
    }
    if (common === undefined && !(own.length === 0 && isOptional)) return undefined;
    if (common !== undefined) chosen.push(common);
  }
  return { suite: suiteOf(chosen), proposal: { ...proposal, transforms: chosen } };
};

/** Number 0 means "none" for key exchanges and integrity. */
const isNone = ({ type, id }: Transform): boolean =>
  id === 0 &&
  (type === transformType.group || type === transformType.integrity || type === transformType.additionalExchange);

const isSameTransform = (one: Transform, other: Transform): boolean =>
  one.type === other.type && one.id === other.id && one.keyBits === other.keyBits;

const fixedKeyBits: Readonly<Record<number, number>> = {
  [encryptionId.chacha20Poly1305]: 256,
  [encryptionId.tripleDes]: 192,
};

const suites = new Map<number, Suite>();

/** Algorithms have small numbers: a suite is one number. */
const suiteKey = ({ encryption, keyBits, integrity, prf, group, additional, hasEsn }: Suite): number => {
  const algorithms = ((encryption * 512 + keyBits) * 64 + integrity) * 64 + prf;
  return ((algorithms * 256 + group) * 256 + additional) * 2 + Number(hasEsn);
};

/** Each suite exists once, however many SAs have it. */
const suiteOf = (transforms: readonly Transform[]): Suite => {
  const suite = newSuite(transforms);
  const key = suiteKey(suite);
  const found = suites.get(key) ?? suite;
  suites.set(key, found);
  return found;
};

const newSuite = (transforms: readonly Transform[]): Suite => {
  const find = (type: number) => transforms.find((one) => one.type === type);
  const encryption = find(transformType.encryption);
  const id = encryption?.id ?? 0;
  return {
    encryption: id,
    keyBits: encryption?.keyBits ?? fixedKeyBits[id] ?? 0,
    integrity: find(transformType.integrity)?.id ?? 0,
    prf: find(transformType.prf)?.id ?? 0,
    group: find(transformType.group)?.id ?? 0,
    additional: find(transformType.additionalExchange)?.id ?? 0,
    hasEsn: find(transformType.esn)?.id === 1,
  };
};
