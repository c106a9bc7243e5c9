import { type MsChapExchange, msChapResponse, msChapSuccess } from '../access/crypto/ms-chap.ts';
import { eapCode, readEap, writeEap } from './eap-packet.ts';
import { MsChapClient, type MsChapClientOptions } from './ms-chap-client.ts';
import type { EapTls, InnerMethod } from './tls-method.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const eapHeadBytes = 4;
const identityType = 1;
/** Messages of PEAP about the result (type, length, value). */
const extensions = 33;
const resultTlv = { type: 3, success: 1, failure: 2 } as const;

/** MS-CHAPv2 inside PEAPv0. Messages there have no head of EAP, except those about the result. */
export class PeapMsChap implements InnerMethod {
  readonly #client: MsChapClient;
  #isAgreed = false;
  #isDone = false;

  constructor(options: MsChapClientOptions) {
    this.#client = new MsChapClient(options);
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  answer(plain: Uint8Array, id: number): Uint8Array | undefined {
    const whole = readEap(plain);
    const hasHead =
      whole?.code === eapCode.request &&
      (whole.type === extensions || (whole.type === identityType && plain.length === eapHeadBytes + 1));
    if (hasHead && whole.type === extensions) return this.#onResult(whole.data, whole.id);
    const [type = 0] = plain;
    const request = hasHead ? plain : writeEap({ code: eapCode.request, id, type, data: plain.subarray(1) });
    const step = this.#client.receive(request);
    if (step.kind !== 'respond') return undefined;
    this.#isAgreed = this.#client.isProven;
    return step.packet.subarray(eapHeadBytes);
  }

  /** The server says whether the method has succeeded; it has only if it has proven that it knows the password, too. */
  #onResult(data: Uint8Array, id: number): Uint8Array {
    let isGood = false;
    for (let at = 0; at + 6 <= data.length; at += 4 + (((data[at + 2] as number) << 8) | (data[at + 3] as number))) {
      const type = (((data[at] as number) & 0x3f) << 8) | (data[at + 1] as number);
      if (type === resultTlv.type) isGood = data[at + 5] === resultTlv.success;
    }
    this.#isDone = isGood && this.#isAgreed;
    const value = this.#isDone ? resultTlv.success : resultTlv.failure;
    return writeEap({ code: eapCode.response, id, type: extensions, data: Uint8Array.of(0x80, 3, 0, 2, 0, value) });
  }
}

const attribute = { userName: 1, password: 2, challenge: 11, response: 25, success: 26 } as const;
const microsoft = 311;
const avpFlag = { vendor: 0x80, mandatory: 0x40 } as const;

/** An attribute of TTLS (RFC 5281, 10.1), padded to words. */
const avp = (code: number, value: Uint8Array, vendor = 0): Uint8Array => {
  const headBytes = vendor === 0 ? 8 : 12;
  const length = headBytes + value.length;
  const bytes = new Uint8Array((length + 3) & ~3);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, code);
  view.setUint32(4, (((vendor === 0 ? 0 : avpFlag.vendor) | avpFlag.mandatory) << 24) | length);
  if (vendor !== 0) view.setUint32(8, vendor);
  bytes.set(value, headBytes);
  return bytes;
};

const join = (parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));

/** The password inside TTLS, as it is: the certificate of the server is the only proof of it. */
export class TtlsPap implements InnerMethod {
  readonly #options: Pick<MsChapClientOptions, 'identity' | 'password'>;
  isDone = false;

  constructor(options: Pick<MsChapClientOptions, 'identity' | 'password'>) {
    this.#options = options;
  }

  begin(): Uint8Array {
    const password = encoder.encode(this.#options.password);
    const padded = new Uint8Array(Math.max((password.length + 15) & ~15, 16));
    padded.set(password);
    this.isDone = true;
    return join([avp(attribute.userName, encoder.encode(this.#options.identity)), avp(attribute.password, padded)]);
  }

  answer(): undefined {
    return undefined;
  }
}

/** MS-CHAPv2 inside TTLS; the challenge comes from the session of TLS. */
export class TtlsMsChap implements InnerMethod {
  readonly #options: MsChapClientOptions;
  #exchange: MsChapExchange | undefined;
  #response: Uint8Array = new Uint8Array(0);
  isDone = false;

  constructor(options: MsChapClientOptions) {
    this.#options = options;
  }

  begin(tls: EapTls): Uint8Array {
    const { identity, password, random } = this.#options;
    const material = tls.exportKey('ttls challenge', 17);
    const authenticatorChallenge = material.subarray(0, 16);
    const userName = identity.replace(/^.*\\/, '');
    const exchange = { authenticatorChallenge, peerChallenge: random(16), userName, password };
    this.#exchange = exchange;
    this.#response = msChapResponse(exchange);
    const value = new Uint8Array(50);
    value[0] = material[16] as number;
    value.set(exchange.peerChallenge, 2);
    value.set(this.#response, 26);
    return join([
      avp(attribute.userName, encoder.encode(identity)),
      avp(attribute.challenge, authenticatorChallenge, microsoft),
      avp(attribute.response, value, microsoft),
    ]);
  }

  answer(plain: Uint8Array): undefined {
    const view = new DataView(plain.buffer, plain.byteOffset, plain.byteLength);
    for (let at = 0; at + 12 <= plain.length; ) {
      const length = view.getUint32(at + 4) & 0xffffff;
      if (length < 8 || at + length > plain.length) return;
      const isOfMicrosoft = (view.getUint8(at + 4) & avpFlag.vendor) !== 0 && view.getUint32(at + 8) === microsoft;
      if (isOfMicrosoft && view.getUint32(at) === attribute.success)
        this.isDone = this.#isProof(decoder.decode(plain.subarray(at + 13, at + length)));
      at += (length + 3) & ~3;
    }
  }

  #isProof(text: string): boolean {
    return this.#exchange !== undefined && text.startsWith(msChapSuccess(this.#exchange, this.#response));
  }
}
