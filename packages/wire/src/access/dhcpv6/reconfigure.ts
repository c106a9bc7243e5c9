import { hmacMd5 } from '../../bytes/hmac-md5.ts';
import { copyOf, isSameBytes, type Memory } from '../../bytes/memory.ts';
import { type Dhcpv6Message, dhcpv6Option, dhcpv6Type, optionLength6 } from './message.ts';

/** Reconfigure key authentication (RFC 8415, 20.4): protocol 3, HMAC with MD5, a counter against replay. */
const method = [3, 1, 0] as const;
const counterAt = method.length;
const kindAt = counterAt + 8;
const valueAt = kindAt + 1;
const keyBytes = 16;
const authenticationBytes = valueAt + keyBytes;
const valueKind = { key: 1, digest: 2 } as const;

/** The value of an authentication option, with a counter below 2^32. */
const authenticationOf = (kind: number, counter: number, value: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(authenticationBytes);
  bytes.set(method);
  new DataView(bytes.buffer).setUint32(counterAt + 4, counter);
  bytes[kindAt] = kind;
  bytes.set(value, valueAt);
  return bytes;
};

/** The option by which a server gives a client the key of later messages. */
export const keyOption = (key: Uint8Array): Uint8Array => authenticationOf(valueKind.key, 0, key);

/** The option of a message that is to be signed as a whole. */
export const unsignedOption = (counter: number): Uint8Array =>
  authenticationOf(valueKind.digest, counter, new Uint8Array(keyBytes));

/** Signs a message that ends with its authentication option. */
export const signMessage = (message: Uint8Array, key: Uint8Array): void =>
  message.set(hmacMd5(key, message), message.length - keyBytes);

/** Where the authentication of a message of a kind stands; -1: it has none. */
const findAuthentication = ({ view, bytes }: Memory, message: Dhcpv6Message, kind: number): number => {
  const at = message.find(view, dhcpv6Option.authentication);
  if (at < 0 || optionLength6(view, at) !== authenticationBytes || bytes[at + kindAt] !== kind) return -1;
  return method.every((byte, i) => bytes[at + i] === byte) ? at : -1;
};

/** The keys that servers have given to the clients of a port. */
export class ReconfigureKeys {
  readonly #keys: Uint8Array;
  readonly #hasKey: Uint8Array;
  /** Newest counter of each client. */
  readonly #counters: Float64Array;

  constructor(clients: number) {
    this.#keys = new Uint8Array(clients * keyBytes);
    this.#hasKey = new Uint8Array(clients);
    this.#counters = new Float64Array(clients).fill(-1);
  }

  /** Keeps the key of a reply, if it has one. */
  learn(client: number, memory: Memory, message: Dhcpv6Message): void {
    const at = findAuthentication(memory, message, valueKind.key);
    if (at < 0) return;
    const key = memory.bytes.subarray(at + valueAt, at + authenticationBytes);
    // Replies repeat the key: what was said with it stays said.
    if (this.#hasKey[client] === 1 && isSameBytes(key, this.#keyOf(client))) return;
    this.#keyOf(client).set(key);
    this.#hasKey[client] = 1;
    this.#counters[client] = -1;
  }

  forget(client: number): void {
    this.#hasKey[client] = 0;
  }

  /** What a message [start, end) asks the client to send: the type of the message; 0: it is to be ignored. */
  requestIn(client: number, memory: Memory, message: Dhcpv6Message, [start, end]: readonly [number, number]): number {
    const { view, bytes } = memory;
    const at = findAuthentication(memory, message, valueKind.digest);
    const requestAt = message.find(view, dhcpv6Option.reconfigureMessage);
    if (at < 0 || requestAt < 0 || optionLength6(view, requestAt) < 1 || this.#hasKey[client] === 0) return 0;
    const counter = view.getUint32(at + counterAt) * 2 ** 32 + view.getUint32(at + counterAt + 4);
    const text = copyOf(bytes, start, end);
    text.fill(0, at + valueAt - start, at + authenticationBytes - start);
    const key = this.#keyOf(client);
    const digest = bytes.subarray(at + valueAt, at + authenticationBytes);
    if (counter <= (this.#counters[client] as number) || !isSameBytes(digest, hmacMd5(key, text))) return 0;
    this.#counters[client] = counter;
    const type = view.getUint8(requestAt);
    return type === dhcpv6Type.renew || type === dhcpv6Type.rebind ? type : 0;
  }

  #keyOf(client: number): Uint8Array {
    return this.#keys.subarray(client * keyBytes, (client + 1) * keyBytes);
  }
}
