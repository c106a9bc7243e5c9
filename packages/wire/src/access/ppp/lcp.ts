import { copyOf, type Memory } from '../../bytes/memory.ts';
import { type ControlPolicy, type Verdict, verdict } from './control-protocol.ts';
import { type OptionList, type PppPacket, pppCode, pppProtocol } from './packet.ts';

/** Options that are understood, by number. */
export const lcpOption = { mru: 1, authentication: 3, magic: 5 } as const;
const chapAlgorithm = { md5: 5, msChapV2: 0x81 } as const;
export const defaultMru = 1500;
const minMru = 64;
const minEcho = 4;

export const authMethod = { none: 0, pap: 1, chapMd5: 2, msChapV2: 3 } as const;
export type AuthMethod = (typeof authMethod)[keyof typeof authMethod];
/** What an end accepts: any method, CHAP of either kind, one method only, or no authentication. */
export type AuthOffer = 'any' | 'chap' | 'pap' | 'msChapV2' | 'none';

export interface LcpOptions {
  readonly isServer: boolean;
  readonly capacity: number;
  readonly mru: number;
  readonly magicNumber: boolean;
  readonly vendorExtensions: boolean;
  readonly offer: AuthOffer;
}

export interface LcpEvents extends Pick<ControlPolicy, 'onOpened' | 'onReopened' | 'onClosed' | 'onFailed'> {
  readonly random: () => number;
  reply(session: number, code: number, id: number, body: Uint8Array): void;
  onEchoReply(session: number): void;
  onProtocolRejected(session: number, protocol: number): void;
  /** A packet of this end came back. */
  onLooped(session: number): void;
  /** The ends do not agree on how to authenticate. */
  onNoMethod(session: number): void;
}

export const firstMethod: Record<AuthOffer, AuthMethod> = { any: 2, chap: 2, pap: 1, msChapV2: 3, none: 0 };

export const isMethodAccepted = (offer: AuthOffer, method: AuthMethod): boolean =>
  offer === 'any' || (offer === 'chap' ? method > authMethod.pap : method === firstMethod[offer]);

export const methodAt = ({ view }: Memory, at: number, length: number): AuthMethod => {
  const protocol = length >= 4 ? view.getUint16(at + 2) : 0;
  if (protocol === pppProtocol.pap && length === 4) return authMethod.pap;
  if (protocol !== pppProtocol.chap || length !== 5) return authMethod.none;
  const algorithm = view.getUint8(at + 4);
  if (algorithm === chapAlgorithm.md5) return authMethod.chapMd5;
  return algorithm === chapAlgorithm.msChapV2 ? authMethod.msChapV2 : authMethod.none;
};

export const addMethod = (options: OptionList, method: AuthMethod): void => {
  if (method === authMethod.pap) options.half(lcpOption.authentication, pppProtocol.pap);
  else if (method !== authMethod.none) {
    const algorithm = method === authMethod.chapMd5 ? chapAlgorithm.md5 : chapAlgorithm.msChapV2;
    options.halfAndByte(lcpOption.authentication, pppProtocol.chap, algorithm);
  }
};

/** A link as another machine has negotiated it. */
export interface AdoptedLcp {
  readonly method: AuthMethod;
  /** Of this end. */
  readonly magic: number;
  readonly peerMru: number;
}

/** Options of LCP (RFC 1661) of all sessions of a port, and its echoes and rejects. */
export class Lcp implements ControlPolicy {
  /** How the client authenticates itself. */
  readonly method: Uint8Array;
  /** Largest packet that the peer takes. */
  readonly peerMru: Uint16Array;
  readonly magic: Int32Array;
  readonly #refused: Uint8Array;
  /** The last request had the own magic number. */
  readonly #isLooped: Uint8Array;
  /** Client: the last request asked for a method that is not accepted. */
  readonly #isMethodRefused: Uint8Array;
  readonly #options: LcpOptions;
  readonly #events: LcpEvents;

  constructor(options: LcpOptions, events: LcpEvents) {
    const { capacity } = options;
    this.#options = options;
    this.#events = events;
    this.method = new Uint8Array(capacity);
    this.peerMru = new Uint16Array(capacity);
    this.magic = new Int32Array(capacity);
    this.#refused = new Uint8Array(capacity);
    this.#isLooped = new Uint8Array(capacity);
    this.#isMethodRefused = new Uint8Array(capacity);
  }

  /** Sets a session back to what is asked for first. */
  begin(session: number): void {
    const { isServer, offer } = this.#options;
    this.method[session] = isServer ? firstMethod[offer] : authMethod.none;
    this.peerMru[session] = defaultMru;
    this.#refused[session] = 0;
    this.#isLooped[session] = 0;
    this.#isMethodRefused[session] = 0;
    this.#newMagic(session);
  }

  /** What this end asks for comes back to it. */
  isLooped(session: number): boolean {
    return this.#isLooped[session] === 1;
  }

  /** Takes over what another machine has negotiated. */
  adopt(session: number, { method, magic, peerMru }: AdoptedLcp): void {
    this.begin(session);
    this.method[session] = method;
    this.magic[session] = magic;
    this.peerMru[session] = peerMru;
  }

  isMethodRefused(session: number): boolean {
    return this.#isMethodRefused[session] === 1;
  }

  request(session: number, options: OptionList): void {
    const { mru, magicNumber, isServer } = this.#options;
    const refused = this.#refused[session] as number;
    if ((refused & (1 << lcpOption.mru)) === 0) options.half(lcpOption.mru, mru);
    if (isServer) addMethod(options, this.method[session] as AuthMethod);
    if (magicNumber && (refused & (1 << lcpOption.magic)) === 0)
      options.word(lcpOption.magic, this.magic[session] as number);
  }

  judge(session: number, memory: Memory, at: number, length: number, wanted: OptionList): Verdict {
    switch (memory.view.getUint8(at)) {
      case lcpOption.mru:
        if (length !== 4) return verdict.reject;
        this.peerMru[session] = memory.view.getUint16(at + 2);
        if ((this.peerMru[session] as number) >= minMru) return verdict.ack;
        wanted.half(lcpOption.mru, defaultMru);
        return verdict.nak;
      case lcpOption.magic:
        return this.#judgeMagic(session, memory, at, length, wanted);
      case lcpOption.authentication:
        return this.#options.isServer ? verdict.reject : this.#judgeMethod(session, memory, at, length, wanted);
      default:
        return verdict.reject;
    }
  }

  /** Of a client: a request without the option takes back what the server asked for before. */
  judgeMissing(session: number, seen: number): void {
    const isAsked = (seen & (1 << lcpOption.authentication)) !== 0;
    if (this.#options.isServer || isAsked) return;
    this.method[session] = authMethod.none;
    this.#isMethodRefused[session] = 0;
  }

  onNak(session: number, memory: Memory, at: number, length: number): void {
    const type = memory.view.getUint8(at);
    if (type === lcpOption.magic) this.#newMagic(session);
    else if (type === lcpOption.authentication && this.#options.isServer) {
      const method = methodAt(memory, at, length);
      if (method !== authMethod.none && isMethodAccepted(this.#options.offer, method)) this.method[session] = method;
      else this.#events.onNoMethod(session);
    }
  }

  onReject(session: number, type: number): void {
    if (type === lcpOption.authentication) this.#events.onNoMethod(session);
    else if (type < 8) this.#refused[session] = (this.#refused[session] as number) | (1 << type);
  }

  onOpened(session: number): void {
    this.#events.onOpened(session);
  }

  onReopened(session: number): void {
    this.#events.onReopened(session);
  }

  onClosed(session: number, isPeer: boolean): void {
    this.#events.onClosed(session, isPeer);
  }

  onFailed(session: number, reason: 'timeout' | 'options'): void {
    this.#events.onFailed(session, reason);
  }

  onCode(session: number, { code, id, body, end }: PppPacket, memory: Memory): boolean {
    const events = this.#events;
    switch (code) {
      case pppCode.protocolReject:
        if (end - body >= 2) events.onProtocolRejected(session, memory.view.getUint16(body));
        return true;
      case pppCode.echoRequest:
        if (this.#isOwn(session, memory, body, end)) events.onLooped(session);
        else if (end - body >= minEcho)
          events.reply(session, pppCode.echoReply, id, this.#signed(session, memory, body, end));
        return true;
      case pppCode.echoReply:
        events.onEchoReply(session);
        return true;
      case pppCode.discardRequest:
        return true;
      case pppCode.vendor:
        return this.#answerVendor(session, id, memory, body, end);
      default:
        return false;
    }
  }

  /** Body of an echo request. */
  echo(session: number): Uint8Array {
    const body = new Uint8Array(minEcho);
    if (this.#options.magicNumber) new DataView(body.buffer).setInt32(0, this.magic[session] as number);
    return body;
  }

  #judgeMagic(session: number, memory: Memory, at: number, length: number, wanted: OptionList): Verdict {
    if (length !== 6) return verdict.reject;
    const magic = memory.view.getInt32(at + 2);
    const isOwn = this.#options.magicNumber && magic === this.magic[session];
    this.#isLooped[session] = isOwn ? 1 : 0;
    if (magic !== 0 && !isOwn) return verdict.ack;
    wanted.word(lcpOption.magic, Math.floor(this.#events.random() * 2 ** 32) | 1);
    return verdict.nak;
  }

  #judgeMethod(session: number, memory: Memory, at: number, length: number, wanted: OptionList): Verdict {
    const { offer } = this.#options;
    const method = methodAt(memory, at, length);
    const isAccepted = method !== authMethod.none && isMethodAccepted(offer, method);
    this.#isMethodRefused[session] = isAccepted ? 0 : 1;
    if (isAccepted) {
      this.method[session] = method;
      return verdict.ack;
    }
    if (offer === 'none') return verdict.reject;
    addMethod(wanted, firstMethod[offer]);
    return verdict.nak;
  }

  /** A packet of a negotiated link has the magic number of this end. */
  #isOwn(session: number, { view }: Memory, body: number, end: number): boolean {
    const isUsed = this.#options.magicNumber && ((this.#refused[session] as number) & (1 << lcpOption.magic)) === 0;
    return isUsed && end - body >= minEcho && view.getInt32(body) === this.magic[session];
  }

  /** The packet with our magic number in the place of the peer's. */
  #signed(session: number, memory: Memory, body: number, end: number): Uint8Array {
    const answer = copyOf(memory.bytes, body, end);
    answer.set(this.echo(session));
    return answer;
  }

  /** RFC 2153: magic number, organization, kind. The answer has the same kind and no values. */
  #answerVendor(session: number, id: number, memory: Memory, body: number, end: number): boolean {
    if (!this.#options.vendorExtensions || end - body < 8) return false;
    this.#events.reply(session, pppCode.vendor, id, this.#signed(session, memory, body, body + 8));
    return true;
  }

  #newMagic(session: number): void {
    this.magic[session] = Math.floor(this.#events.random() * 2 ** 32) | 1;
  }
}
