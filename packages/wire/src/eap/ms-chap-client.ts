import { type MsChapExchange, msChapResponse, msChapSuccess } from '../access/crypto/ms-chap.ts';
import { sha1 } from '../access/crypto/sha1.ts';
import { md4 } from '../bytes/md5.ts';
import { copyOf } from '../bytes/memory.ts';
import type { EapClient, EapStep } from '../ipsec/ike/peer.ts';
import { type EapPacket, eapCode, eapType, readEap, writeEap } from './eap-packet.ts';

const opcode = { challenge: 1, response: 2, success: 3, failure: 4 } as const;
const challengeBytes = 16;
const responseBytes = 49;
const headBytes = 4;
const keyBytes = 64;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const masterText = encoder.encode('This is the MPPE Master Key');
const clientSends = encoder.encode(
  'On the client side, this is the send key; on the server side, it is the receive key.',
);
const serverSends = encoder.encode(
  'On the client side, this is the receive key; on the server side, it is the send key.',
);
const firstPad = new Uint8Array(40);
const secondPad = new Uint8Array(40).fill(0xf2);

const utf16 = (text: string): Uint8Array => {
  const view = new DataView(new ArrayBuffer(text.length * 2));
  for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), true);
  return new Uint8Array(view.buffer);
};

/** The key that both sides have after MS-CHAPv2 (RFC 3079, 3.4): what the server receives by, then what it sends by. */
export const msChapKey = (password: string, response: Uint8Array): Uint8Array => {
  const master = sha1(md4(md4(utf16(password))), response, masterText).subarray(0, 16);
  const half = (text: Uint8Array) => sha1(master, firstPad, text, secondPad).subarray(0, 16);
  const key = new Uint8Array(keyBytes);
  key.set(half(clientSends), 0);
  key.set(half(serverSends), 16);
  return key;
};

export interface MsChapClientOptions {
  readonly identity: string;
  readonly password: string;
  random(length: number): Uint8Array;
}

const failed = (cause: string): EapStep => ({ kind: 'failed', cause });

const answer = ({ id }: EapPacket, data: Uint8Array, type: number = eapType.msChapV2): EapStep => ({
  kind: 'respond',
  packet: writeEap({ code: eapCode.response, id, type, data }),
});

/** The side of EAP-MSCHAPv2 that asks to be let in. */
export class MsChapClient implements EapClient {
  readonly #options: MsChapClientOptions;
  #exchange: MsChapExchange | undefined;
  #response: Uint8Array = new Uint8Array(0);
  #isProven = false;

  constructor(options: MsChapClientOptions) {
    this.#options = options;
  }

  /** The server has proven that it knows the password. */
  get isProven(): boolean {
    return this.#isProven;
  }

  get identity(): string {
    return this.#options.identity;
  }

  receive(bytes: Uint8Array): EapStep {
    const packet = readEap(bytes);
    if (packet === undefined) return failed('eapInvalid');
    if (packet.code === eapCode.success) return this.#finish();
    if (packet.code !== eapCode.request) return failed('eapFailure');
    if (packet.type === eapType.identity) return answer(packet, encoder.encode(this.identity), eapType.identity);
    if (packet.type === eapType.notification) return answer(packet, new Uint8Array(0), eapType.notification);
    if (packet.type === eapType.msChapV2) return this.#onMsChap(packet);
    return answer(packet, Uint8Array.of(eapType.msChapV2), eapType.nak);
  }

  #finish(): EapStep {
    if (!this.#isProven) return failed('eapInvalid');
    return { kind: 'succeeded', key: msChapKey(this.#options.password, this.#response) };
  }

  #onMsChap(packet: EapPacket): EapStep {
    const [code] = packet.data;
    if (code === opcode.challenge) return this.#onChallenge(packet);
    if (code === opcode.success) return this.#onSuccess(packet);
    return code === opcode.failure ? answer(packet, Uint8Array.of(opcode.failure)) : failed('eapInvalid');
  }

  #onChallenge(packet: EapPacket): EapStep {
    const { data } = packet;
    if (data[headBytes] !== challengeBytes || data.length < headBytes + 1 + challengeBytes) return failed('eapInvalid');
    const authenticatorChallenge = copyOf(data, headBytes + 1, headBytes + 1 + challengeBytes);
    const { identity, password, random } = this.#options;
    const userName = identity.replace(/^.*\\/, '');
    const exchange = { authenticatorChallenge, peerChallenge: random(challengeBytes), userName, password };
    this.#exchange = exchange;
    this.#response = msChapResponse(exchange);
    const name = encoder.encode(identity);
    const reply = new Uint8Array(headBytes + 1 + responseBytes + name.length);
    reply.set([opcode.response, data[1] as number, reply.length >>> 8, reply.length & 255, responseBytes]);
    reply.set(exchange.peerChallenge, headBytes + 1);
    reply.set(this.#response, headBytes + 1 + challengeBytes + 8);
    reply.set(name, headBytes + 1 + responseBytes);
    return answer(packet, reply);
  }

  /** The server proves that it knows the password too. */
  #onSuccess(packet: EapPacket): EapStep {
    const text = decoder.decode(packet.data.subarray(headBytes));
    this.#isProven = this.#exchange !== undefined && text.startsWith(msChapSuccess(this.#exchange, this.#response));
    return this.#isProven ? answer(packet, Uint8Array.of(opcode.success)) : failed('eapUntrusted');
  }
}
