import { copyOf, Memory } from '../../bytes/memory.ts';
import { type Credentials, chapDigest } from '../ppp/authentication.ts';
import {
  type AuthMethod,
  type AuthOffer,
  addMethod,
  authMethod,
  defaultMru,
  firstMethod,
  isMethodAccepted,
  lcpOption,
  methodAt,
} from '../ppp/lcp.ts';
import { OptionList } from '../ppp/packet.ts';
import type { AdoptedLink } from '../ppp/ppp.ts';
import { type Avp, type AvpMap, avpType, halfOf, halfValue } from './avp.ts';

/** Kinds of proxy authentication (RFC 2661, 4.4.5). */
const proxyType = { chap: 2, pap: 3, none: 4 } as const;
/** Options that change nothing here: the character map and both compressions. */
const harmless: readonly number[] = [2, 7, 8];
const challengeBytes = 16;
const minMru = 64;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What a LAC has negotiated with a subscriber: for the LNS, and for the subscriber. */
export interface ProxyExchange {
  readonly avps: readonly Avp[];
  readonly link: AdoptedLink;
}

export interface ProxyOptions {
  readonly mru: number;
  readonly magicNumber: boolean;
  readonly offer: AuthOffer;
  readonly credentials: Credentials;
  readonly random: () => number;
}

const optionsOf = (mru: number, magic: number, method: AuthMethod): Uint8Array => {
  const options = new OptionList();
  options.half(lcpOption.mru, mru);
  addMethod(options, method);
  if (magic !== 0) options.word(lcpOption.magic, magic);
  return copyOf(options.bytes, 0, options.length);
};

const authAvps = (question: AdoptedLink['question']): Avp[] => {
  if (question === undefined) return [{ type: avpType.proxyAuthType, value: halfValue(proxyType.none) }];
  const { method, userName, id, challenge, value } = question;
  const isPap = method === authMethod.pap;
  return [
    { type: avpType.proxyAuthType, value: halfValue(isPap ? proxyType.pap : proxyType.chap) },
    { type: avpType.proxyAuthName, value: encoder.encode(userName) },
    ...(isPap ? [] : [{ type: avpType.proxyAuthChallenge, value: challenge }]),
    { type: avpType.proxyAuthId, value: halfValue(id) },
    { type: avpType.proxyAuthResponse, value },
  ];
};

/** LCP and authentication between a LAC and its subscriber; undefined for methods that a LAC cannot pass on. */
export const negotiateAsProxy = ({
  mru,
  magicNumber,
  offer,
  credentials,
  random,
}: ProxyOptions): ProxyExchange | undefined => {
  const method = firstMethod[offer];
  if (method === authMethod.msChapV2) return undefined;
  const magic = () => (magicNumber ? Math.floor(random() * 2 ** 32) | 1 : 0);
  const [ours, theirs] = [magic(), magic()];
  const id = Math.floor(random() * 256);
  const challenge = Uint8Array.from({ length: challengeBytes }, () => Math.floor(random() * 256));
  const { userName, password } = credentials;
  const value = method === authMethod.pap ? encoder.encode(password) : chapDigest(id, password, challenge);
  const question = method === authMethod.none ? undefined : { userName, method, id, challenge, value };
  const fromSubscriber = optionsOf(mru, ours, authMethod.none);
  return {
    link: { method, magic: ours, peerMru: mru, question },
    avps: [
      { type: avpType.initialReceivedLcp, value: fromSubscriber },
      { type: avpType.lastSentLcp, value: optionsOf(mru, theirs, method) },
      { type: avpType.lastReceivedLcp, value: fromSubscriber },
      ...authAvps(question),
    ],
  };
};

interface LcpReading {
  mru: number;
  magic: number;
  method: AuthMethod;
}

/** Options of a request; undefined if one of them changes the link in a manner that is not known. */
const readOptions = (bytes: Uint8Array): LcpReading | undefined => {
  const memory = new Memory(bytes);
  const reading: LcpReading = { mru: defaultMru, magic: 0, method: authMethod.none };
  for (let at = 0; at < bytes.length; ) {
    const length = at + 2 <= bytes.length ? memory.view.getUint8(at + 1) : 0;
    if (length < 2 || at + length > bytes.length) return undefined;
    const type = memory.view.getUint8(at);
    if (type === lcpOption.mru && length === 4) reading.mru = memory.view.getUint16(at + 2);
    else if (type === lcpOption.magic && length === 6) reading.magic = memory.view.getInt32(at + 2);
    else if (type === lcpOption.authentication) {
      reading.method = methodAt(memory, at, length);
      if (reading.method === authMethod.none) return undefined;
    } else if (!harmless.includes(type)) return undefined;
    at += length;
  }
  return reading;
};

const questionOf = (avps: AvpMap, method: AuthMethod): AdoptedLink['question'] => {
  const [name, value] = [avps.get(avpType.proxyAuthName), avps.get(avpType.proxyAuthResponse)];
  const challenge = avps.get(avpType.proxyAuthChallenge) ?? new Uint8Array(0);
  const isWhole = avps.has(avpType.proxyAuthId) && (method === authMethod.pap || challenge.length > 0);
  if (name === undefined || value === undefined || !isWhole) return undefined;
  const id = halfOf(avps, avpType.proxyAuthId) & 255;
  return { userName: decoder.decode(name), method, id, challenge: copyOf(challenge), value: copyOf(value) };
};

const methods: Readonly<Record<number, AuthMethod>> = {
  [proxyType.chap]: authMethod.chapMd5,
  [proxyType.pap]: authMethod.pap,
  [proxyType.none]: authMethod.none,
};

/** The link that a LAC has negotiated, if an LNS that wants `offer` can go on with it. */
export const readProxy = (avps: AvpMap, offer: AuthOffer): AdoptedLink | undefined => {
  const [sent, received] = [avps.get(avpType.lastSentLcp), avps.get(avpType.lastReceivedLcp)];
  const method = methods[halfOf(avps, avpType.proxyAuthType)];
  if (sent === undefined || received === undefined || method === undefined) return undefined;
  const [ours, theirs] = [readOptions(sent), readOptions(received)];
  if (ours === undefined || theirs === undefined || theirs.method !== authMethod.none) return undefined;
  if (ours.method !== method) return undefined;
  if (theirs.mru < minMru) return undefined;
  const isWanted = method === authMethod.none ? offer === 'none' : isMethodAccepted(offer, method);
  if (!isWanted) return undefined;
  const question = method === authMethod.none ? undefined : questionOf(avps, method);
  if (method !== authMethod.none && question === undefined) return undefined;
  return { method, magic: ours.magic, peerMru: theirs.mru, question };
};
