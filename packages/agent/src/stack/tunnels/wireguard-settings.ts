import type { StackTunnel } from '@rushhour/protocol';
import { blake2s, type OnLinkPrefix } from '@rushhour/wire';
import { prefixOf } from '../hosts.ts';
import { wireGuardCrypto } from './wireguard-crypto.ts';

interface TunnelKeys {
  readonly privateKey: Uint8Array;
  readonly peerKey: Uint8Array;
  readonly presharedKey: Uint8Array;
}

interface WireGuardSettings {
  readonly port: number;
  readonly keepaliveSec: number;
  /** Inner sources that are accepted; empty: all. */
  readonly allowed: readonly OnLinkPrefix[];
  keysOf(index: number): TunnelKeys;
}

const keyBytes = 32;
const defaultPort = 51_820;

const keyIn = (params: StackTunnel['params'], name: string): Uint8Array | undefined => {
  const text = params[name];
  if (typeof text !== 'string' || text === '') return undefined;
  const key = new Uint8Array(Buffer.from(text, 'base64'));
  if (key.length !== keyBytes)
    throw new RangeError(`${name} of the WireGuard tunnel is not a key of ${keyBytes} bytes`);
  return key;
};

/** A private key that both ends compute from the one of the tunnel record. */
const derivedKey = (secret: Uint8Array, purpose: string): Uint8Array =>
  Uint8Array.from(blake2s([new TextEncoder().encode(`rushhour wireguard ${purpose}`)], { key: secret }));

/**
 * Keys of tunnels. With a public key of the peer, the far end is not ours: `privateKey` is our own. Without one, both
 * ends are agents: clients have `privateKey` and keys derived from it, the server a key derived from it.
 */
export const wireGuardSettings = ({ params, isServer }: StackTunnel): WireGuardSettings => {
  const secret = keyIn(params, 'privateKey');
  if (secret === undefined) throw new RangeError('a WireGuard tunnel needs a private key');
  const peerKey = keyIn(params, 'peerPublicKey');
  const presharedKey = keyIn(params, 'presharedKey') ?? new Uint8Array(keyBytes);
  const first = Number(params['keyIndex'] ?? 0);
  const clientKey = (index: number) => (first + index === 0 ? secret : derivedKey(secret, `client ${first + index}`));
  const serverKey = derivedKey(secret, 'server');
  return {
    port: Number(params['port'] ?? defaultPort),
    keepaliveSec: Number(params['keepalive'] ?? 0),
    allowed: ((params['allowedIps'] ?? []) as string[]).map(prefixOf),
    keysOf(index) {
      if (peerKey !== undefined) return { privateKey: isServer ? secret : clientKey(index), peerKey, presharedKey };
      const [own, other] = isServer ? [serverKey, clientKey(index)] : [clientKey(index), serverKey];
      return { privateKey: own, peerKey: wireGuardCrypto.publicKeyOf(other), presharedKey };
    },
  };
};
