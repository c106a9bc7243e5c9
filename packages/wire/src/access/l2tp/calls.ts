import type { Memory } from '../../bytes/memory.ts';
import type { SessionCause } from '../causes.ts';
import { pppProtocol } from '../ppp/packet.ts';
import { type Avp, type AvpMap, avpError, avpType, halfOf, halfValue, wordValue } from './avp.ts';
import { type Call, callState, createCall } from './call.ts';
import { type ControlMessage, callResult, messageType } from './control-message.ts';
import { dataBytes, frameProtocolAt, type L2tpHeader, wrapData } from './header.ts';
import { resultValue, type Tunnel } from './tunnel.ts';

const maxSessionIds = 65_535;
const synchronous = 1;

export interface CallsOptions {
  /** Calls are taken (LNS) or made (LAC). */
  readonly isLns: boolean;
  readonly maxPerTunnel: number;
  /** Data messages are numbered. */
  readonly dataSequencing: boolean;
  readonly dataLength: boolean;
  /** Speed of the lines, in bit/s. */
  readonly connectBps: number;
}

export interface CallEvents {
  /** LNS: a session for a call, or -1. */
  take?(tunnel: Tunnel): number;
  /** LAC: what is reported of the link of a subscriber. */
  linkAvps?(session: number): readonly Avp[];
  /** LNS: with what the LAC reports. */
  onUp(session: number, avps: AvpMap): void;
  /** The call is gone without a request of this end. */
  onDown(session: number, cause: SessionCause): void;
  onFrame(session: number, protocol: number, memory: Memory, start: number, end: number): void;
}

export interface CallEnd {
  readonly result: number;
  readonly error?: number;
  readonly text?: string;
}

interface TunnelCalls {
  readonly calls: Map<number, Call>;
  /** The identifier given last: none is given again soon. */
  lastId: number;
}

/** Incoming calls (RFC 2661, 5.2.1 and 7.4) in all tunnels of an end, and their data. Outgoing calls are refused. */
export class Calls {
  readonly counters = { refused: 0, invalid: 0, unknown: 0, late: 0 };
  readonly #options: CallsOptions;
  readonly #events: CallEvents;
  readonly #bySession = new Map<number, Call>();
  readonly #byTunnel = new Map<Tunnel, TunnelCalls>();
  #serial = 0;

  constructor(events: CallEvents, options: CallsOptions) {
    this.#events = events;
    this.#options = options;
  }

  find(session: number): Call | undefined {
    return this.#bySession.get(session);
  }

  countIn(tunnel: Tunnel): number {
    return this.#byTunnel.get(tunnel)?.calls.size ?? 0;
  }

  /** Bytes before a packet of a session. */
  get headBytes(): number {
    return dataBytes(this.#options.dataLength, true);
  }

  /** LAC: calls the LNS for a session; false if the tunnel has no identifier left. */
  begin(tunnel: Tunnel, session: number): boolean {
    const { dataSequencing } = this.#options;
    const flags = { isSequencing: dataSequencing, isSequencingRequired: dataSequencing };
    const call = this.#create(tunnel, session, { peerId: 0, state: callState.waitReply, ...flags });
    if (call === undefined) return false;
    this.#serial = (this.#serial + 1) >>> 0;
    tunnel.send(messageType.icrq, 0, [
      { type: avpType.assignedSessionId, value: halfValue(call.localId) },
      { type: avpType.callSerialNumber, value: wordValue(this.#serial) },
    ]);
    return true;
  }

  /** Ends the call of a session, with the result that the peer is given. */
  end(session: number, reason: CallEnd): void {
    const call = this.#bySession.get(session);
    if (call === undefined) return;
    this.#remove(call);
    this.#disconnect(call.tunnel, call.peerId, call.localId, reason);
  }

  /** Forgets the call of a session without a word to the peer. */
  drop(session: number): void {
    const call = this.#bySession.get(session);
    if (call !== undefined) this.#remove(call);
  }

  /** The tunnel is gone, and its calls with it. */
  dropTunnel(tunnel: Tunnel, cause: SessionCause): void {
    const calls = [...(this.#byTunnel.get(tunnel)?.calls.values() ?? [])];
    for (const call of calls) this.#remove(call);
    this.#byTunnel.delete(tunnel);
    for (const { session } of calls) this.#events.onDown(session, cause);
  }

  receive(tunnel: Tunnel, message: ControlMessage): void {
    const { type, avps } = message;
    const peerId = halfOf(avps, avpType.assignedSessionId);
    if (type === messageType.icrq) {
      this.#onRequest(tunnel, message, peerId);
      return;
    }
    if (type === messageType.ocrq) {
      this.#refuse(tunnel, peerId, { result: callResult.neverFacilities, error: avpError.resources });
      return;
    }
    const call = this.#findCall(tunnel, message, peerId);
    if (call !== undefined) this.#onCallMessage(call, message, peerId);
    else {
      this.counters.unknown++;
      // The peer must not wait for a call that is over.
      if (type === messageType.icrp && peerId !== 0)
        this.#disconnect(tunnel, peerId, 0, { result: callResult.error, error: avpError.session });
    }
  }

  /** A data message of a tunnel. */
  receiveData(tunnel: Tunnel, header: L2tpHeader, memory: Memory): void {
    const call = this.#byTunnel.get(tunnel)?.calls.get(header.sessionId);
    if (call === undefined || call.state !== callState.established) {
      this.counters.unknown++;
      return;
    }
    // The LNS decides about numbers while the session lives (RFC 2661, 5.4).
    if (!this.#options.isLns && !call.isSequencingRequired) call.isSequencing = header.isSequenced;
    if (header.isSequenced && !call.sequence.accept(header.ns)) {
      this.counters.late++;
      return;
    }
    const at = frameProtocolAt(memory, header.payload, header.end);
    if (header.end - at < 2) {
      this.counters.invalid++;
      return;
    }
    const first = memory.view.getUint8(at);
    // A protocol whose first byte is odd has one byte only.
    if ((first & 1) === 1) this.#events.onFrame(call.session, first, memory, at + 1, header.end);
    else this.#events.onFrame(call.session, memory.view.getUint16(at), memory, at + 2, header.end);
  }

  /** Writes the header of the packet [at, end) of a session; returns where the message starts, or -1. */
  wrap(session: number, memory: Memory, at: number, end: number, protocol: number): number {
    const call = this.#bySession.get(session);
    if (call === undefined || call.state !== callState.established) return -1;
    return wrapData(memory, at, end, protocol, {
      tunnelId: call.tunnel.peerId,
      sessionId: call.peerId,
      hasLength: this.#options.dataLength,
      ns: call.isSequencing ? call.sequence.take() : -1,
      isPriority: protocol === pppProtocol.lcp,
    });
  }

  #onRequest(tunnel: Tunnel, { error }: ControlMessage, peerId: number): void {
    const { isLns, maxPerTunnel, dataSequencing } = this.#options;
    if (error !== undefined) {
      this.#refuse(tunnel, peerId, {
        result: callResult.error,
        error: error.code,
        text: `attribute ${error.attribute}`,
      });
      return;
    }
    if (!isLns) {
      this.#refuse(tunnel, peerId, { result: callResult.neverFacilities, error: avpError.resources });
      return;
    }
    const session = this.countIn(tunnel) < maxPerTunnel ? (this.#events.take?.(tunnel) ?? -1) : -1;
    const flags = { isSequencing: dataSequencing, isSequencingRequired: false };
    const call =
      session < 0 ? undefined : this.#create(tunnel, session, { peerId, state: callState.waitConnect, ...flags });
    if (call === undefined) {
      this.#refuse(tunnel, peerId, { result: callResult.noFacilities, error: avpError.resources });
      return;
    }
    tunnel.send(messageType.icrp, peerId, [{ type: avpType.assignedSessionId, value: halfValue(call.localId) }]);
  }

  #onCallMessage(call: Call, { type, avps, error }: ControlMessage, peerId: number): void {
    const isExpected =
      (type === messageType.icrp && call.state === callState.waitReply) ||
      (type === messageType.iccn && call.state === callState.waitConnect);
    if (type === messageType.cdn) {
      this.#remove(call);
      const wasUp = call.state === callState.established;
      this.#events.onDown(call.session, wasUp ? 'L2TP: call ended by the peer' : 'L2TP: call refused');
    } else if (error !== undefined)
      this.#fail(call, { result: callResult.error, error: error.code, text: `attribute ${error.attribute}` });
    else if (type === messageType.wen || type === messageType.sli) return;
    else if (!isExpected) this.#fail(call, { result: callResult.error, error: avpError.session });
    else if (type === messageType.icrp) this.#onReply(call, avps, peerId);
    else {
      call.isSequencingRequired = avps.has(avpType.sequencingRequired);
      call.isSequencing ||= call.isSequencingRequired;
      call.state = callState.established;
      this.#events.onUp(call.session, avps);
    }
  }

  #onReply(call: Call, avps: AvpMap, peerId: number): void {
    call.peerId = peerId;
    call.state = callState.established;
    const connected: Avp[] = [
      { type: avpType.connectSpeed, value: wordValue(this.#options.connectBps) },
      { type: avpType.framingType, value: wordValue(synchronous) },
      ...(this.#events.linkAvps?.(call.session) ?? []),
    ];
    if (call.isSequencingRequired) connected.push({ type: avpType.sequencingRequired, value: new Uint8Array(0) });
    // Data that overtakes this message is lost: PPP begins when it has left.
    call.tunnel.send(messageType.iccn, peerId, connected, () => {
      if (this.#bySession.get(call.session) === call) this.#events.onUp(call.session, avps);
    });
  }

  #fail(call: Call, reason: CallEnd): void {
    this.counters.invalid++;
    this.end(call.session, reason);
    this.#events.onDown(call.session, 'L2TP: protocol error');
  }

  /** A message that comes before the peer knows our identifier names the call by its own. */
  #findCall(tunnel: Tunnel, { type, sessionId }: ControlMessage, peerId: number): Call | undefined {
    const calls = this.#byTunnel.get(tunnel)?.calls;
    if (sessionId !== 0 || type !== messageType.cdn || peerId === 0) return calls?.get(sessionId);
    for (const call of calls?.values() ?? []) if (call.peerId === peerId) return call;
    return undefined;
  }

  #refuse(tunnel: Tunnel, peerId: number, reason: CallEnd): void {
    this.counters.refused++;
    if (peerId !== 0) this.#disconnect(tunnel, peerId, 0, reason);
  }

  #disconnect(tunnel: Tunnel, peerId: number, localId: number, { result, error, text }: CallEnd): void {
    if (!tunnel.isOpen) return;
    tunnel.send(messageType.cdn, peerId, [
      { type: avpType.resultCode, value: resultValue(result, error, text) },
      { type: avpType.assignedSessionId, value: halfValue(localId) },
    ]);
  }

  #create(
    tunnel: Tunnel,
    session: number,
    fields: Omit<Parameters<typeof createCall>[2], 'localId'>,
  ): Call | undefined {
    let known = this.#byTunnel.get(tunnel);
    if (known === undefined) {
      known = { calls: new Map(), lastId: 0 };
      this.#byTunnel.set(tunnel, known);
    }
    if (known.calls.size >= maxSessionIds) return undefined;
    do known.lastId = (known.lastId % maxSessionIds) + 1;
    while (known.calls.has(known.lastId));
    const call = createCall(tunnel, session, { localId: known.lastId, ...fields });
    known.calls.set(call.localId, call);
    this.#bySession.set(session, call);
    return call;
  }

  #remove(call: Call): void {
    this.#byTunnel.get(call.tunnel)?.calls.delete(call.localId);
    this.#bySession.delete(call.session);
  }
}
