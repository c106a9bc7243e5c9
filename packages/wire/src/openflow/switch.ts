import { effectOf, specialPort } from './actions.ts';
import { type FlowMod, readFlowMod } from './flow-mod.ts';
import { flowRemovedBody } from './flow-removed.ts';
import { type Flow, FlowTables, removedReason } from './flow-table.ts';
import { fieldsOf, writeInPort } from './match.ts';
import {
  agreedVersion,
  errorOf,
  headerBytes,
  helloMessage,
  type LaterTypes,
  laterTypesOf,
  MessageReader,
  MessageWriter,
  messageType,
  openFlowVersion,
} from './message.ts';
import { readPacketOut } from './packet-out.ts';
import { featuresBody, type SwitchFacts, statisticsReplies } from './statistics.ts';

export interface SwitchOptions {
  /** Versions that are offered, as they stand in messages. */
  readonly versions: readonly number[];
  readonly datapathId: bigint;
  readonly ports: number;
  readonly tables: number;
  readonly maxFlows: number;
  readonly description: string;
  readonly echoMs: number;
}

export interface SwitchHost {
  send(message: Uint8Array): void;
  /** The connection is of no use any more. */
  onBroken(reason: string): void;
  /** A packet leaves by a port. */
  onOutput(port: number, frame: Uint8Array): void;
  /** A packet of the controller; flows count as changes. */
  onPacketOut?(frame: Uint8Array): void;
}

export const switchStates = ['down', 'connecting', 'up'] as const;
export type SwitchState = (typeof switchStates)[number];

type ErrorName = keyof ReturnType<typeof errorOf>;

const noBuffer = 0xffffffff;
const packetReason = { noMatch: 0, action: 1, packetOut: 3 } as const;
const sendsRemoved = 1;
/** Echo requests without an answer before the connection is given up. */
const maxSilentEchoes = 3;
const missLength = 128;
const role = { noChange: 0 } as const;
const roleNames = ['none', 'equal', 'primary', 'secondary'] as const;

/** An emulated OpenFlow switch: its side of the channel, flow tables and ports. */
export class OpenFlowSwitch implements SwitchFacts {
  readonly counters = {
    ...{ sent: 0, received: 0, timeouts: 0, errors: 0, packetIns: 0, packetOuts: 0, flowMods: 0, flowsRemoved: 0 },
  };
  readonly tables: FlowTables;
  readonly datapathId: bigint;
  readonly ports: number;
  readonly tableCount: number;
  readonly maxFlows: number;
  readonly description: string;
  state: SwitchState = 'down';
  version = 0;
  nowMs = 0;
  lastError = '';
  readonly #options: SwitchOptions;
  readonly #host: SwitchHost;
  readonly #reader = new MessageReader();
  readonly #received: Float64Array;
  readonly #sent: Float64Array;
  #types: LaterTypes = laterTypesOf(1);
  #role = 1;
  #generation = 0n;
  #missLength = missLength;
  #xid = 1;
  #echoAtMs = Number.POSITIVE_INFINITY;
  #silentEchoes = 0;

  constructor(host: SwitchHost, options: SwitchOptions) {
    this.#host = host;
    this.#options = options;
    this.tables = new FlowTables(options.tables, options.maxFlows);
    this.datapathId = options.datapathId;
    this.ports = options.ports;
    this.tableCount = options.tables;
    this.maxFlows = options.maxFlows;
    this.description = options.description;
    this.#received = new Float64Array(options.ports + 1);
    this.#sent = new Float64Array(options.ports + 1);
  }

  /** How the controller has named its part: it may be one of several. */
  get role(): string {
    return roleNames[this.#role] ?? 'equal';
  }

  readonly macOf = (port: number): Uint8Array => {
    const low = Number(this.datapathId & 0xffffffn);
    return Uint8Array.of(0x0e, port >>> 8, (low >>> 16) & 255, (low >>> 8) & 255, low & 255, port & 255);
  };

  readonly countersOf = (port: number) => ({
    received: this.#received[port] as number,
    sent: this.#sent[port] as number,
  });

  /** The connection to the controller is there. */
  connected(): void {
    this.#reader.reset();
    this.state = 'connecting';
    this.version = 0;
    this.#role = 1;
    this.#silentEchoes = 0;
    this.#echoAtMs = this.nowMs + this.#options.echoMs;
    this.#transmit(helloMessage(this.#options.versions));
  }

  /** It is gone; flows stay as in fail-secure mode. */
  disconnected(): void {
    this.state = 'down';
    this.#echoAtMs = Number.POSITIVE_INFINITY;
  }

  advance(nowMs: number): void {
    this.nowMs = nowMs;
    this.tables.expire(nowMs, (flow, reason) => this.#reportRemoved(flow, reason));
    if (nowMs < this.#echoAtMs) return;
    this.#echoAtMs = nowMs + this.#options.echoMs;
    if (this.#silentEchoes > 0) this.counters.timeouts++;
    if (this.#silentEchoes >= maxSilentEchoes) {
      this.#break('echo without answer');
      return;
    }
    this.#silentEchoes++;
    if (this.state === 'up') this.#send(new MessageWriter(16), messageType.echoRequest);
  }

  /** Bytes of the controller. */
  receive(bytes: Uint8Array): void {
    if (!this.#reader.read(bytes, (message) => this.#onMessage(message))) this.#break('message without length');
  }

  /** Sends a packet of a host up, whatever the flows say. */
  sendUp(port: number, frame: Uint8Array): void {
    this.#received[port] = (this.#received[port] as number) + 1;
    this.#packetIn(port, frame, { reason: packetReason.noMatch, table: 0, cookie: 0n });
  }

  /** A frame arrives on a port: flows decide. */
  receiveFrame(port: number, frame: Uint8Array): void {
    if (port < 1 || port > this.ports) return;
    this.#received[port] = (this.#received[port] as number) + 1;
    this.#process(port, frame);
  }

  #process(port: number, frame: Uint8Array): void {
    const fields = fieldsOf(frame, port);
    for (let table = 0; ; ) {
      const flow = this.tables.find(table, fields);
      if (flow === undefined) {
        // From version 1.3 on packets without a flow are dropped.
        if (this.version < openFlowVersion['1.3'])
          this.#packetIn(port, frame, { reason: packetReason.noMatch, table, cookie: 0n });
        return;
      }
      flow.packets++;
      flow.bytes += frame.length;
      flow.usedMs = this.nowMs;
      const { ports, next } = effectOf(flow.actionBytes, this.version);
      const isMiss = flow.priority === 0 && flow.match.size === 0;
      const reason = isMiss ? packetReason.noMatch : packetReason.action;
      for (const out of ports) this.#output(out, port, frame, { reason, table, cookie: flow.cookie });
      if (next === undefined || next <= table) return;
      table = next;
    }
  }

  #output(
    out: number,
    inPort: number,
    frame: Uint8Array,
    about: { readonly reason: number; readonly table: number; readonly cookie: bigint },
  ): void {
    if (out === specialPort.controller) this.#packetIn(inPort, frame, about);
    else if (out === specialPort.table) this.#process(inPort, frame);
    else if (out === specialPort.inPort) this.#emit(inPort, frame);
    else if (out === specialPort.flood || out === specialPort.all || out === specialPort.normal) {
      for (let port = 1; port <= this.ports; port++) if (port !== inPort) this.#emit(port, frame);
    } else if (out !== inPort) this.#emit(out, frame);
  }

  #emit(port: number, frame: Uint8Array): void {
    if (port < 1 || port > this.ports) return;
    this.#sent[port] = (this.#sent[port] as number) + 1;
    this.#host.onOutput(port, frame);
  }

  #packetIn(
    port: number,
    frame: Uint8Array,
    { reason, table, cookie }: { readonly reason: number; readonly table: number; readonly cookie: bigint },
  ): void {
    if (this.state !== 'up' || this.#role === 3) return;
    const { version } = this;
    const writer = new MessageWriter(frame.length + 64).u32(noBuffer);
    if (version === openFlowVersion['1.1']) writer.u32(port).u32(port);
    writer.u16(frame.length);
    if (version === 1) writer.u16(port).u8(reason).pad(1);
    else writer.u8(reason).u8(table);
    if (version >= openFlowVersion['1.3']) writer.u64(cookie);
    if (version >= openFlowVersion['1.2']) writeInPort(writer, port).pad(2);
    this.counters.packetIns++;
    this.#send(writer.bytes(frame), messageType.packetIn);
  }

  #onMessage(message: Uint8Array): void {
    this.counters.received++;
    this.#silentEchoes = 0;
    const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
    const [type, xid] = [view.getUint8(1), view.getUint32(4)];
    if (this.state === 'connecting') this.#onHello(view, type, xid);
    else {
      const error = view.getUint8(0) === this.version ? this.#dispatch(type, message, view, xid) : 'badVersion';
      if (error !== undefined) this.#sendError(error, message, xid);
    }
  }

  #onHello(view: DataView, type: number, xid: number): void {
    if (type !== messageType.hello) {
      this.#break('no hello');
      return;
    }
    const version = agreedVersion(view, this.#options.versions);
    if (version < 0) {
      const [code, detail] = errorOf(1).helloIncompatible;
      const own = Math.max(...this.#options.versions);
      this.#transmit(new MessageWriter(16).u16(code).u16(detail).finish(own, messageType.error, xid));
      this.#break('no common version');
      return;
    }
    this.version = version;
    this.#types = laterTypesOf(version);
    this.state = 'up';
  }

  /** Carries out a message; the error that it has, if it has one. */
  #dispatch(type: number, message: Uint8Array, view: DataView, xid: number): ErrorName | undefined {
    const types = this.#types;
    switch (type) {
      case messageType.packetOut:
        return this.#onPacketOut(message);
      case messageType.flowMod:
        return this.#onFlowMod(message);
      case types.statsRequest:
        return this.#onStatistics(message, xid);
      case messageType.error:
        this.counters.errors++;
        this.lastError = `error ${view.byteLength >= 12 ? `${view.getUint16(8)}.${view.getUint16(10)}` : ''}`;
        return undefined;
      case messageType.setConfig:
        if (message.length >= headerBytes + 4) this.#missLength = view.getUint16(headerBytes + 2);
        return undefined;
      case types.roleRequest:
        this.#onRole(view, xid);
        return undefined;
      case messageType.hello:
      case messageType.echoReply:
      case types.portMod:
      case types.tableMod:
      case types.setAsync:
        return undefined;
      default:
        return this.#answer(type, message, xid);
    }
  }

  /** Answers requests that change nothing. */
  #answer(type: number, message: Uint8Array, xid: number): ErrorName | undefined {
    const types = this.#types;
    if (type === messageType.echoRequest)
      this.#send(new MessageWriter(64).bytes(message.subarray(headerBytes)), messageType.echoReply, xid);
    else if (type === messageType.featuresRequest) this.#send(featuresBody(this), messageType.featuresReply, xid);
    else if (type === messageType.configRequest)
      this.#send(new MessageWriter(16).u16(0).u16(this.#missLength), messageType.configReply, xid);
    else if (type === types.barrierRequest) this.#send(new MessageWriter(16), types.barrierReply, xid);
    else if (type === types.asyncRequest) this.#send(new MessageWriter(64).pad(24), types.asyncReply, xid);
    else return 'badType';
    return undefined;
  }

  #onPacketOut(message: Uint8Array): ErrorName | undefined {
    const packet = readPacketOut(message, this.version);
    if (typeof packet === 'string') return packet;
    this.counters.packetOuts++;
    const { inPort, ports, frame } = packet;
    this.#host.onPacketOut?.(frame);
    const reason = this.version >= 5 ? packetReason.packetOut : packetReason.action;
    for (const port of ports) this.#output(port, inPort, frame, { reason, table: 0, cookie: 0n });
    return undefined;
  }

  #onFlowMod(message: Uint8Array): ErrorName | undefined {
    const change = readFlowMod(message, this.version);
    if (typeof change === 'string') return change;
    this.counters.flowMods++;
    if (change.table >= 0 && !this.tables.has(change.table)) return 'badTable';
    const { kind } = change;
    const known = kind === 'add' ? [] : this.tables.select(change);
    for (const flow of known) {
      if (kind === 'modify') flow.actionBytes = change.actionBytes;
      else {
        this.tables.remove(flow);
        this.#reportRemoved(flow, removedReason.deleted);
      }
    }
    // In versions 1.0 and 1.1 a change of what is not there adds it.
    const isAddition = this.version <= openFlowVersion['1.1'] && change.cookieMask === 0n;
    const adds = kind === 'add' || (kind === 'modify' && known.length === 0 && isAddition);
    return adds && !this.tables.add(this.#flowOf(change)) ? 'tableFull' : undefined;
  }

  #flowOf(change: FlowMod): Flow {
    const { priority, match, cookie, idleSec, hardSec, flags, importance, matchBytes, actionBytes } = change;
    const table = Math.max(change.table, 0);
    const { nowMs } = this;
    return {
      ...{ table, priority, match, cookie, idleSec, hardSec, flags, importance, matchBytes, actionBytes },
      ...{ sinceMs: nowMs, usedMs: nowMs, packets: 0, bytes: 0 },
    };
  }

  #onStatistics(message: Uint8Array, xid: number): ErrorName | undefined {
    const replies = statisticsReplies(message, this);
    for (const reply of replies ?? []) this.#send(reply, this.#types.statsReply, xid);
    return replies === undefined ? 'badStats' : undefined;
  }

  #onRole(view: DataView, xid: number): void {
    if (view.byteLength < headerBytes + 16) return;
    const wanted = view.getUint32(headerBytes);
    if (wanted !== role.noChange && wanted < roleNames.length) this.#role = wanted;
    this.#generation = view.getBigUint64(headerBytes + 8);
    this.#send(new MessageWriter(32).u32(this.#role).pad(4).u64(this.#generation), this.#types.roleReply, xid);
  }

  #reportRemoved(flow: Flow, reason: number): void {
    this.counters.flowsRemoved++;
    if ((flow.flags & sendsRemoved) === 0 || this.state !== 'up') return;
    this.#send(flowRemovedBody(flow, reason, this), messageType.flowRemoved);
  }

  #sendError(name: ErrorName, message: Uint8Array, xid: number): void {
    const [type, code] = errorOf(this.version)[name];
    this.lastError = `refused: ${name}`;
    this.#send(new MessageWriter(96).u16(type).u16(code).bytes(message.subarray(0, 64)), messageType.error, xid);
  }

  #send(writer: MessageWriter, type: number, xid?: number): void {
    if (xid === undefined) this.#xid = (this.#xid + 1) >>> 0;
    this.#transmit(writer.finish(this.version, type, xid ?? this.#xid));
  }

  #transmit(message: Uint8Array): void {
    this.counters.sent++;
    this.#host.send(message);
  }

  #break(reason: string): void {
    this.lastError = reason;
    this.disconnected();
    this.#host.onBroken(reason);
  }
}
