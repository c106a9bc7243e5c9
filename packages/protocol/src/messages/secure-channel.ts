import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  createSecretKey,
  diffieHellman,
  generateKeyPairSync,
  hash,
  hkdfSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { parsePublicKey, publicKeyText } from './package-signature.ts';

/** A handshake or message that does not come from the expected peer, or was changed on the way. */
export class ChannelError extends Error {
  override readonly name = 'ChannelError';
}

/** An X25519 key pair for one connection. */
export interface Ephemeral {
  /** Raw, base64url. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

const spkiPrefix = Buffer.from('302a300506032b656e032100', 'hex');

export const createEphemeral = (): Ephemeral => {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(spkiPrefix.length);
  return { publicKey: raw.toString('base64url'), privateKey };
};

const sharedSecret = ({ privateKey }: Ephemeral, peer: string): Buffer => {
  try {
    const key = Buffer.concat([spkiPrefix, Buffer.from(peer, 'base64url')]);
    return diffieHellman({ privateKey, publicKey: createPublicKey({ key, format: 'der', type: 'spki' }) });
  } catch (cause) {
    throw new ChannelError('the ephemeral key is not valid', { cause });
  }
};

/** What agent and controller sign: everything both sides chose for this connection. */
interface Transcript {
  readonly protocol: number;
  readonly nonce: string;
  readonly agentEphemeral: string;
  readonly controllerEphemeral: string;
  readonly controllerKey: string;
}

const digestOf = ({ protocol, nonce, agentEphemeral, controllerEphemeral, controllerKey }: Transcript) =>
  hash('sha256', JSON.stringify([protocol, nonce, agentEphemeral, controllerEphemeral, controllerKey]), 'hex');

const controllerText = (digest: string) => Buffer.from(`rushhour controller session ${digest}`);
const agentText = (digest: string) => Buffer.from(`rushhour agent session ${digest}`);

const tagBytes = 16;
const cipher = 'aes-256-gcm';

/** Bytes that a sealed message is longer than its content. */
export const sealBytes = 1 + tagBytes;

type ContentKind = 'json' | 'file';
const kinds: readonly ContentKind[] = ['json', 'file'];

/** One direction: keys and numbers are used once, so messages cannot be replayed, reordered or left out unnoticed. */
class Direction {
  /** With the bytes of a key instead, each message costs five times as much. */
  readonly #key: KeyObject;
  #count = 0n;

  constructor(secret: Buffer, digest: string, info: string) {
    this.#key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, Buffer.from(digest, 'hex'), info, 32)));
  }

  seal(kind: ContentKind, content: Uint8Array): Buffer {
    const gcm = createCipheriv(cipher, this.#key, this.#nextNonce());
    const head = gcm.update(Uint8Array.of(kinds.indexOf(kind)));
    return Buffer.concat([head, gcm.update(content), gcm.final(), gcm.getAuthTag()]);
  }

  open(sealed: Buffer): { kind: ContentKind; content: Buffer } {
    if (sealed.length < sealBytes) throw new ChannelError('the message is truncated');
    const gcm = createDecipheriv(cipher, this.#key, this.#nextNonce(), { authTagLength: tagBytes });
    gcm.setAuthTag(sealed.subarray(sealed.length - tagBytes));
    const plain = gcm.update(sealed.subarray(0, sealed.length - tagBytes));
    try {
      gcm.final();
    } catch (cause) {
      throw new ChannelError('the message was changed, repeated or left out on the way', { cause });
    }
    const kind = kinds[plain[0] as number];
    if (kind === undefined) throw new ChannelError('the message is of an unknown kind');
    return { kind, content: plain.subarray(1) };
  }

  #nextNonce(): Buffer {
    const nonce = Buffer.alloc(12);
    nonce.writeBigUInt64BE(this.#count, 4);
    this.#count += 1n;
    return nonce;
  }
}

/** Encrypts and authenticates the messages of one connection in both directions. */
export interface SecureChannel {
  seal(kind: ContentKind, content: Uint8Array): Buffer;
  /** Throws `ChannelError`. */
  open(sealed: Buffer): { kind: ContentKind; content: Buffer };
}

const createChannel = (secret: Buffer, digest: string, side: 'agent' | 'controller'): SecureChannel => {
  const up = new Direction(secret, digest, 'agent to controller');
  const down = new Direction(secret, digest, 'controller to agent');
  const [out, incoming] = side === 'agent' ? [up, down] : [down, up];
  return { seal: (kind, content) => out.seal(kind, content), open: (sealed) => incoming.open(sealed) };
};

const publicTexts = new WeakMap<KeyObject, string>();
/** Of a private key, derived once. */
const publicTextOf = (key: KeyObject): string => {
  const text = publicTexts.get(key) ?? publicKeyText(createPublicKey(key));
  publicTexts.set(key, text);
  return text;
};

/** Controller: signs the connection and derives its keys. */
export const answerHail = (hail: { protocol: number; ephemeral: string }, nonce: string, key: KeyObject) => {
  const own = createEphemeral();
  const secret = sharedSecret(own, hail.ephemeral);
  const controllerKey = publicTextOf(key);
  const exchange = { agentEphemeral: hail.ephemeral, controllerEphemeral: own.publicKey };
  const digest = digestOf({ protocol: hail.protocol, nonce, controllerKey, ...exchange });
  const signature = sign(null, controllerText(digest), key).toString('base64');
  return {
    identity: { key: controllerKey, ephemeral: own.publicKey, signature },
    channel: createChannel(secret, digest, 'controller'),
    digest,
  };
};

interface IdentityCheck {
  readonly protocol: number;
  readonly nonce: string;
  readonly own: Ephemeral;
  readonly identity: { readonly key: string; readonly ephemeral: string; readonly signature: string };
}

/** Agent: checks that the controller holds the key it shows. Throws `ChannelError`. */
export const acceptIdentity = ({ protocol, nonce, own, identity }: IdentityCheck) => {
  const { key: controllerKey, ephemeral: controllerEphemeral, signature } = identity;
  const secret = sharedSecret(own, controllerEphemeral);
  const digest = digestOf({ protocol, nonce, agentEphemeral: own.publicKey, controllerEphemeral, controllerKey });
  const isProven = verify(
    null,
    controllerText(digest),
    parsePublicKey(controllerKey),
    Buffer.from(signature, 'base64'),
  );
  if (!isProven) throw new ChannelError('the controller does not hold the key it shows');
  return { channel: createChannel(secret, digest, 'agent'), digest };
};

/** Agent: proves that it holds its own key, for this connection only. */
export const signSession = (digest: string, key: KeyObject): string =>
  sign(null, agentText(digest), key).toString('base64');

export const isSessionSignature = (digest: string, key: KeyObject, signature: string): boolean =>
  verify(null, agentText(digest), key, Buffer.from(signature, 'base64'));
