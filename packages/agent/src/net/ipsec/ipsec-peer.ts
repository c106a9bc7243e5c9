import type { IpsecSettings } from '@rushhour/protocol';
import {
  anySelector,
  type CipherKeys,
  type CipherSpec,
  copyOf,
  defaultIkeTimers,
  encryptionKeyBytes,
  espOffer,
  findGroup,
  type IkeAuthentication,
  type IkePeer,
  identificationOf,
  ikeOffers,
  integrityKeyBytes,
  isMappedAddress,
  MsChapClient,
  type Offer,
  type PeerCheck,
  parseAddress,
  selectorOf,
  TlsEapClient,
  type TrafficSelector,
} from '@rushhour/wire';
import { createEapContext, createEapTls } from '../openssl/eap-tls.ts';
import { createCredential, createPeerCheck, nameIn } from './credential.ts';
import { nodeIpsecCrypto } from './node-crypto.ts';

/** 4 or 16 bytes of an address in words. */
export const addressBytes = (words: Int32Array, at = 0): Uint8Array => {
  const isV4 = isMappedAddress(words, at);
  const bytes = new Uint8Array(isV4 ? 4 : 16);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < bytes.length / 4; i++) view.setInt32(i * 4, words[at + (isV4 ? 3 : i)] as number);
  return bytes;
};

export const parseBytes = (text: string): Uint8Array => addressBytes(parseAddress(text));

/** The address `offset` after another one; only the last four bytes change. */
export const addressAfter = (start: Uint8Array, offset: number): Uint8Array => {
  const bytes = copyOf(start);
  const view = new DataView(bytes.buffer);
  view.setUint32(bytes.length - 4, (view.getUint32(bytes.length - 4) + offset) >>> 0);
  return bytes;
};

/** Seconds as milliseconds. */
const ms = (seconds: number): number => seconds * 1000;

const keyBytes = (text: string): Uint8Array =>
  /^0x([0-9a-f]{2})+$/i.test(text) ? Buffer.from(text.slice(2), 'hex') : new TextEncoder().encode(text);

/** `{index}` in an identity is the number of the tunnel. */
const passwordEapOf = (
  { psk = '', eapIdentity = '' }: IpsecSettings,
  server: PeerCheck,
  index: number,
): IkeAuthentication => {
  const identity = eapIdentity.replaceAll('{index}', String(index));
  const { random } = nodeIpsecCrypto;
  return {
    kind: 'eap',
    server,
    createClient: () => new MsChapClient({ identity, password: psk, random }),
  };
};

/** All tunnels show the same certificate; the authority of the gateway is that of its EAP, too. */
const certificateEapOf = (settings: IpsecSettings): IkeAuthentication => {
  const { certificate = '', privateKey = '', ca = certificate } = settings;
  const context = createEapContext({ certificate, privateKey, ca });
  const identity = settings.eapIdentity ?? nameIn(certificate);
  const createClient = () => new TlsEapClient({ identity, tls: createEapTls(context) });
  return { kind: 'eap', server: createPeerCheck(ca), createClient };
};

const authenticationOf = (settings: IpsecSettings): IkeAuthentication => {
  if (settings.authMethod === 'eap-tls') return certificateEapOf(settings);
  if (settings.authMethod === 'eap-mschapv2') {
    return passwordEapOf(settings, createPeerCheck(settings.ca ?? ''), settings.firstIndex);
  }
  if (settings.authMethod !== 'cert') return { kind: 'sharedKey', key: keyBytes(settings.psk ?? '') };
  const { certificate = '', privateKey = '', ca = certificate } = settings;
  return { kind: 'certificate', credential: createCredential({ certificate, privateKey, ca }) };
};

/** What tunnel `index` of this agent has of its own: the identity of its user. */
export const numberedPeer = (peer: IkePeer, settings: IpsecSettings, index: number): IkePeer =>
  peer.authentication.kind === 'eap' && settings.authMethod === 'eap-mschapv2'
    ? { ...peer, authentication: passwordEapOf(settings, peer.authentication.server, settings.firstIndex + index) }
    : peer;

/** Users without addresses of their own inside ask the gateway for one. */
export const addressRequest = (
  { authMethod, localRange, mode }: IpsecSettings,
  version: 4 | 6,
): Pick<IkePeer, 'requestsAddress'> =>
  authMethod.startsWith('eap') && localRange === undefined && mode === 'tunnel' ? { requestsAddress: version } : {};

const identityOf = (text: string | undefined) => {
  if (text === undefined) return undefined;
  const isAddress = /^[0-9.]+$/.test(text) || text.includes(':');
  return identificationOf(text, isAddress ? parseBytes(text) : undefined);
};

export const offerOf = ({ cipher, pfs, encrypts, ikeGroup = 'curve25519' }: IpsecSettings): Offer =>
  espOffer(cipher, { encrypts, group: pfs ? findGroup(ikeGroup.split(/,|\+|-ke1_/)[0] ?? '') : undefined });

/** What the settings describe for all tunnels; selectors differ by tunnel. */
export const createPeer = (settings: IpsecSettings, isInitiator: boolean): IkePeer => {
  const { ikeEncryption, ikePrf, ikeGroup } = settings;
  return {
    ikeOffers: ikeOffers({ encryption: ikeEncryption, prf: ikePrf, group: ikeGroup }),
    espOffers: [offerOf(settings)],
    authentication: authenticationOf(settings),
    localId: identityOf(isInitiator ? settings.localId : settings.remoteId),
    remoteId: identityOf(isInitiator ? settings.remoteId : settings.localId),
    children: [],
    isTransport: settings.mode === 'transport',
    forcesEncapsulation: settings.natt,
    timers: {
      ...defaultIkeTimers,
      // The far end may become ready a moment later.
      ...{ retransmitMs: 250, maxRetransmits: 7 },
      dpdIntervalMs: ms(settings.dpdIntervalSec),
      dpdTimeoutMs: ms(settings.dpdTimeoutSec),
      handshakeMs: ms(settings.handshakeTimeoutSec ?? 0),
      // One side renews keys, so that both do not do it at the same time.
      rekeyMs: isInitiator ? ms(settings.rekeySec) : 0,
      lifetimeMs: isInitiator ? ms(settings.lifetimeSec) : 0,
    },
    replayWindow: 1024,
  };
};

export interface TunnelEnds {
  readonly index: number;
  readonly local: Uint8Array;
  readonly remote: Uint8Array;
  readonly isInitiator: boolean;
  /** IP version inside the tunnels. */
  readonly version: 4 | 6;
}

const rangeOf = (range: IpsecSettings['localRange'], version: 4 | 6): TrafficSelector =>
  range === undefined ? anySelector(version) : selectorOf(parseBytes(range.start), parseBytes(range.end));

/** Selectors of one tunnel: `localRange` is on the side of the initiator. */
export const selectorsOf = (settings: IpsecSettings, endpoint: TunnelEnds) => {
  const { index, local, remote, isInitiator, version } = endpoint;
  if (settings.mode === 'transport') return { local: [selectorOf(local, local)], remote: [selectorOf(remote, remote)] };
  const initiator = rangeOf(settings.localRange, version);
  const responder = rangeOf(settings.remoteRange, version);
  const own =
    settings.uniqueSelectors && isInitiator ? addressAfter(initiator.start, settings.firstIndex + index) : undefined;
  const first = own === undefined ? initiator : selectorOf(own, own);
  return isInitiator ? { local: [first], remote: [responder] } : { local: [responder], remote: [first] };
};

const hexBytes = (text: string): Uint8Array => Buffer.from(text.replace(/^0x/i, ''), 'hex');

/** Cipher and keys of manual keying; throws when a key has the wrong length. */
export const manualKeys = (settings: IpsecSettings): { spec: CipherSpec; keys: CipherKeys; hasEsn: boolean } => {
  const { encryptions, integrities, sequences } = offerOf(settings);
  const [encryption] = encryptions;
  const spec = { encryption: encryption?.id ?? 0, keyBits: encryption?.keyBits ?? 0, integrity: integrities[0] ?? 0 };
  const keys = {
    encryption: hexBytes(settings.encryptionKey ?? ''),
    integrity: hexBytes(settings.integrityKey ?? ''),
  };
  const [encryptionSize, integritySize] = [encryptionKeyBytes(spec), integrityKeyBytes(spec.integrity)];
  if (keys.encryption.length !== encryptionSize && encryptionSize > 0)
    throw new RangeError(`the encryption key of ${settings.cipher} has ${encryptionSize} bytes`);
  if (integritySize > 0 && keys.integrity.length !== integritySize)
    throw new RangeError(`the integrity key of ${settings.cipher} has ${integritySize} bytes`);
  return { spec, keys, hasEsn: sequences.includes(1) };
};
