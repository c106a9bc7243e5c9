import { FrameWriter } from '../../access/frames.ts';
import { pppCode, pppHeaderBytes, pppProtocol, writePppHeader } from '../../access/ppp/packet.ts';
import {
  DiscoveryWriter,
  PppoeMessage,
  pppoeCode,
  pppoeDataBytes,
  pppoeTag,
  wrapSession,
} from '../../access/pppoe/message.ts';
import { copyOf, type Memory } from '../../bytes/memory.ts';
import { EthernetHeader, etherType, macBytes } from '../../ethernet/ethernet.ts';
import type { FrameSink } from '../../host-group/hosts.ts';

const mac = Uint8Array.of(2, 0xff, 0, 0, 0, 9);
const sessionId = 7;
const maxBytes = 1000;

/** A control packet of PPP. */
export interface PppMessage {
  readonly protocol: number;
  readonly code: number;
  readonly id: number;
  readonly body: readonly number[];
}

export interface ConcentratorScript {
  /** True: the packet of discovery is dealt with. */
  onDiscovery?(peer: ScriptedConcentrator, code: number): boolean;
  /** True: the packet is dealt with. */
  onPpp?(peer: ScriptedConcentrator, message: PppMessage): boolean;
  /** Authentication that is asked for: the value of the option. */
  readonly method?: readonly number[];
  /** It never asks for anything itself. */
  readonly asksNothing?: boolean;
}

export const methodOf = { pap: [0xc0, 0x23], md5: [0xc2, 0x23, 5], msChapV2: [0xc2, 0x23, 0x81] } as const;
const challenge = [16, ...Array.from({ length: 16 }, (_, i) => i), 0x61];
const clientAddress = [3, 6, 100, 64, 0, 2];
const ownAddress = [3, 6, 100, 64, 0, 1];

/** The other end of one subscriber of PPPoE: it agrees to everything, except for what its script does instead. */
export class ScriptedConcentrator {
  /** Tells what is sent and received now from what was before a change. */
  isSilent = false;
  readonly #frames: FrameWriter;
  readonly #script: ConcentratorScript;
  readonly #ethernet = new EthernetHeader();
  readonly #message = new PppoeMessage();
  readonly #peerMac = new Uint8Array(macBytes);
  #hostUniq: Uint8Array = new Uint8Array(0);
  #id = 100;

  constructor(sink: FrameSink, script: ConcentratorScript) {
    this.#frames = new FrameWriter(sink);
    this.#script = script;
  }

  advance(): void {}

  receive(memory: Memory, start: number, end: number): void {
    const ethernet = this.#ethernet;
    const message = this.#message;
    if (this.isSilent || !ethernet.parse(memory, start, end) || !message.parse(memory, ethernet.payload, end)) return;
    this.#peerMac.set(memory.bytes.subarray(start + macBytes, start + 2 * macBytes));
    if (ethernet.type === etherType.pppoeDiscovery) this.#onDiscovery(memory);
    else if (message.end - message.payload >= 2 + pppHeaderBytes) this.#onSession(memory);
  }

  discovery(code: number, more: { sessionId?: number; error?: number; uniq?: Uint8Array; name?: string } = {}): void {
    const at = this.#frames.begin(0, maxBytes);
    const writer = new DiscoveryWriter().begin(this.#frames.memory, at, code, more.sessionId ?? 0);
    if (more.name !== '') writer.tag(pppoeTag.acName, new TextEncoder().encode(more.name ?? 'script'));
    writer.tag(pppoeTag.serviceName, new Uint8Array(0));
    writer.tag(pppoeTag.hostUniq, more.uniq ?? this.#hostUniq);
    if (more.error !== undefined) writer.tag(more.error, new TextEncoder().encode('no'));
    this.#send(at, writer.end(), etherType.pppoeDiscovery);
  }

  /** Ends the session with a packet of discovery. */
  terminate(): void {
    this.discovery(pppoeCode.padt, { sessionId });
  }

  ppp({ protocol, code, id, body }: PppMessage, length = pppHeaderBytes + body.length): void {
    const { memory } = this.#frames;
    const at = this.#frames.begin(0, maxBytes) + pppoeDataBytes;
    const end = at + pppHeaderBytes + body.length;
    memory.bytes.set(body, at + pppHeaderBytes);
    writePppHeader(memory, at, at + length, code, id);
    this.#send(wrapSession(memory, at, end, sessionId, protocol), end, etherType.pppoeSession);
  }

  /** A packet with an identifier of its own. */
  say(protocol: number, code: number, body: readonly number[] = []): void {
    this.#id = (this.#id + 1) & 255;
    this.ppp({ protocol, code, id: this.#id, body });
  }

  /** Asks for what this end wants. */
  request(protocol: number): void {
    const { method = [] } = this.#script;
    const options: Readonly<Record<number, readonly number[]>> = {
      [pppProtocol.lcp]: [5, 6, 1, 2, 3, 4, ...(method.length > 0 ? [3, method.length + 2, ...method] : [])],
      [pppProtocol.ipcp]: ownAddress,
      [pppProtocol.ip6cp]: [1, 10, 0, 0, 0, 0, 0, 0, 0, 9],
    };
    this.say(protocol, pppCode.configureRequest, options[protocol]);
  }

  challenge(): void {
    this.say(pppProtocol.chap, 1, challenge);
  }

  /** Agrees, and goes on with what comes next. */
  agree(message: PppMessage): void {
    const { protocol, code, body } = message;
    const answer = (other: number, own = body) => this.ppp({ ...message, code: other, body: own });
    if (protocol === pppProtocol.pap) answer(2, [0]);
    else if (protocol === pppProtocol.chap) answer(3, []);
    else if (code === pppCode.terminateRequest) answer(pppCode.terminateAck, []);
    else if (code === pppCode.echoRequest) answer(pppCode.echoReply, [1, 2, 3, 4]);
    else if (code === pppCode.configureAck) this.#onAgreed(protocol);
    else if (code === pppCode.configureRequest) this.#onRequest(message);
  }

  #onRequest(message: PppMessage): void {
    const { protocol, body } = message;
    const isUnnumbered = protocol === pppProtocol.ipcp && body.slice(2, 6).every((byte) => byte === 0);
    if (isUnnumbered) this.ppp({ ...message, code: pppCode.configureNak, body: clientAddress });
    else {
      this.ppp({ ...message, code: pppCode.configureAck });
      if (this.#script.asksNothing !== true) this.request(protocol);
    }
  }

  #onAgreed(protocol: number): void {
    const isChap = protocol === pppProtocol.lcp && this.#script.method?.[0] === 0xc2;
    if (isChap) this.challenge();
  }

  #onDiscovery(memory: Memory): void {
    const message = this.#message;
    if (!message.parseTags(memory)) return;
    this.#hostUniq = message.find(memory, pppoeTag.hostUniq)?.slice() ?? new Uint8Array(0);
    const { code } = message;
    if (this.#script.onDiscovery?.(this, code) === true) return;
    if (code === pppoeCode.padi) this.discovery(pppoeCode.pado);
    else if (code === pppoeCode.padr) this.discovery(pppoeCode.pads, { sessionId });
  }

  #onSession(memory: Memory): void {
    const { payload, end } = this.#message;
    const [code = 0, id = 0, high = 0, low = 0] = memory.bytes.subarray(payload + 2, payload + 6);
    const last = Math.min(payload + 2 + (high << 8) + low, end);
    const body = [...copyOf(memory.bytes, payload + 6, last)];
    const message = { protocol: memory.view.getUint16(payload), code, id, body };
    if (this.#script.onPpp?.(this, message) !== true) this.agree(message);
  }

  #send(at: number, end: number, type: number): void {
    this.#frames.send(at, end, type, { path: 0, tags: 0, sourceMac: mac, destinationMac: this.#peerMac });
  }
}
