import type { Memory } from '../../bytes/memory.ts';
import { ethernetBytes, isSameMac } from '../../ethernet/ethernet.ts';
import type { FrameSink } from '../../host-group/hosts.ts';
import { FrameWriter } from '../frames.ts';
import {
  type Bpdu,
  bpduFlag,
  bpduKind,
  bridgeGroupMac,
  bridgeIdOf,
  compareVectors,
  maxBpduBytes,
  type PriorityVector,
  portRoleCode,
  readBpdu,
  type TreeTimes,
  writeBpdu,
} from './bpdu.ts';
import { createTreePort, type PortRole, type TreePort, type TreePortOptions } from './tree-port.ts';

export interface SpanningTreeOptions {
  /** Without it STP is spoken. */
  readonly isRapid: boolean;
  readonly priority: number;
  readonly mac: Uint8Array;
  readonly helloSec: number;
  readonly maxAgeSec: number;
  readonly forwardDelaySec: number;
  readonly txHoldCount: number;
  readonly ports: readonly TreePortOptions[];
  /** Time between topology changes on purpose; 0: none. */
  readonly topologyChangeMs: number;
  /** Time between attempts to become root; 0: none. */
  readonly claimRootMs: number;
}

const second = 1000;
const never = Number.POSITIVE_INFINITY;
/** Silence of so many hellos ends what was heard. */
const silentHellos = 3;
/** After a change of the version a port keeps it for this time. */
const migrateMs = 3 * second;
const roleCodes: Record<PortRole, number> = {
  disabled: portRoleCode.unknown,
  root: portRoleCode.root,
  designated: portRoleCode.designated,
  alternate: portRoleCode.alternate,
  backup: portRoleCode.alternate,
};

/** A bridge of STP or RSTP (IEEE 802.1D-2004) without hosts: it agrees with its neighbours on a tree and forwards nothing. */
export class SpanningTree {
  readonly ports: readonly TreePort[];
  readonly counters = { topologyChanges: 0, rootChanges: 0 };
  /** The root and the cost to it. */
  root: PriorityVector;
  readonly #options: SpanningTreeOptions;
  readonly #writers: readonly FrameWriter[];
  readonly #macs: readonly Uint8Array[];
  #bridge: string;
  #times: TreeTimes;
  #nowMs = 0;
  #second = 0;
  #changeMs: number;
  #claimMs: number;
  #isClaiming = false;

  constructor(links: readonly { readonly sink: FrameSink; readonly mac: Uint8Array }[], options: SpanningTreeOptions) {
    this.#options = options;
    this.#writers = links.map(({ sink }) => new FrameWriter(sink));
    this.#macs = links.map(({ mac }) => mac);
    this.#bridge = bridgeIdOf(options.priority, options.mac);
    this.#times = this.#ownTimes;
    this.root = this.#ownVector;
    const own = { vector: this.root, times: this.#times, isRapid: options.isRapid };
    this.ports = options.ports.map((port, index) => createTreePort(index, port, own));
    this.#changeMs = options.topologyChangeMs || never;
    this.#claimMs = options.claimRootMs || never;
  }

  get isRoot(): boolean {
    return this.root.root === this.#bridge;
  }

  setLink(index: number, isUp: boolean): void {
    const port = this.ports[index] as TreePort;
    if (port.isLinkUp === isUp) return;
    port.isLinkUp = isUp;
    Object.assign(port, { isHeard: false, isOperEdge: port.isEdge, isRapid: this.#options.isRapid });
    Object.assign(port, { isProposing: false, isProposed: false, isAgreed: false, agrees: false });
    port.versionUntilMs = this.#nowMs + migrateMs;
    port.expiresMs = never;
    this.#chooseRoles();
  }

  /** A frame of a port; false if it is no message of bridges. */
  receive(index: number, memory: Memory, start: number, end: number): boolean {
    if (end - start < ethernetBytes || !isSameMac(memory.bytes, start, bridgeGroupMac, 0)) return false;
    const port = this.ports[index] as TreePort;
    const payload = start + ethernetBytes;
    const length = memory.view.getUint16(start + ethernetBytes - 2);
    const bpdu = payload + length <= end ? readBpdu(memory, payload, payload + length) : undefined;
    if (bpdu === undefined) port.counters.invalid++;
    else if (port.isLinkUp) this.#onBpdu(port, bpdu);
    return true;
  }

  /** Milliseconds since the start. */
  advance(nowMs: number): void {
    this.#nowMs = nowMs;
    const now = Math.floor(nowMs / second);
    if (now !== this.#second) for (const port of this.ports) port.sentThisSecond = 0;
    this.#second = now;
    this.#runEvents();
    for (const port of this.ports) {
      if (!port.isLinkUp) continue;
      if (nowMs >= port.expiresMs) this.#forget(port);
      if (nowMs >= port.nextStateMs) this.#advanceState(port);
      if (nowMs >= port.helloMs) this.#onHello(port);
      if (port.isDue && port.sentThisSecond < this.#options.txHoldCount) this.#transmit(port);
    }
  }

  get #ownVector(): PriorityVector {
    return { root: this.#bridge, cost: 0, bridge: this.#bridge, port: 0 };
  }

  get #ownTimes(): TreeTimes {
    const { helloSec: hello, maxAgeSec: maxAge, forwardDelaySec: forwardDelay } = this.#options;
    return { messageAge: 0, maxAge, hello, forwardDelay };
  }

  /** Disturbs the tree on purpose. */
  #runEvents(): void {
    const { topologyChangeMs, claimRootMs, priority, mac } = this.#options;
    if (this.#nowMs >= this.#changeMs) {
      this.#changeMs += topologyChangeMs;
      this.#changeTopology(undefined);
    }
    if (this.#nowMs < this.#claimMs) return;
    // A claim lasts half of the time to the next one.
    this.#claimMs += claimRootMs / 2;
    this.#isClaiming = !this.#isClaiming;
    this.#bridge = bridgeIdOf(this.#isClaiming ? 0 : priority, mac);
    this.#chooseRoles();
  }

  #onBpdu(port: TreePort, bpdu: Bpdu): void {
    port.counters.received++;
    this.#adaptVersion(port, bpdu);
    port.isOperEdge = false;
    if (bpdu.kind === bpduKind.topologyChange) {
      port.acknowledges = true;
      port.isDue = true;
      this.#changeTopology(port);
      return;
    }
    if ((bpdu.flags & bpduFlag.acknowledgement) !== 0) port.changeUntilMs = 0;
    if ((bpdu.flags & bpduFlag.topologyChange) !== 0) this.#passChangeOn(port);
    if (bpdu.role === portRoleCode.designated) this.#onDesignated(port, bpdu);
    else if ((bpdu.flags & bpduFlag.agreement) !== 0 && port.isPointToPoint) this.#onAgreement(port, bpdu);
  }

  /** A port speaks the protocol of the other end. */
  #adaptVersion(port: TreePort, { kind }: Bpdu): void {
    if (!this.#options.isRapid || this.#nowMs < port.versionUntilMs) return;
    const isRapid = kind === bpduKind.rapid;
    if (port.isRapid === isRapid) return;
    port.isRapid = isRapid;
    port.versionUntilMs = this.#nowMs + migrateMs;
  }

  #onDesignated(port: TreePort, { vector, times, flags }: Bpdu): void {
    const order = compareVectors(vector, port.vector);
    const isSameSender =
      port.isHeard && vector.bridge === port.vector.bridge && (vector.port & 0xfff) === (port.vector.port & 0xfff);
    if (order > 0 && !isSameSender) {
      // A worse bridge gets an answer at once.
      if (port.role === 'designated') port.isDue = true;
      if ((flags & bpduFlag.learning) !== 0) port.isAgreed = false;
      return;
    }
    const isNew = order !== 0 || !port.isHeard;
    Object.assign(port, { vector, times, isHeard: true });
    const isOld = times.messageAge + 1 > times.maxAge;
    port.expiresMs = this.#nowMs + (isOld ? 0 : silentHellos * times.hello * second);
    if ((flags & bpduFlag.proposal) !== 0) port.isProposed = true;
    if (isNew) {
      port.isAgreed = false;
      port.agrees = false;
      port.isProposing = false;
    }
    this.#chooseRoles();
    if (port.isProposed) this.#answerProposal(port);
  }

  #onAgreement(port: TreePort, { vector }: Bpdu): void {
    if (port.role !== 'designated' || compareVectors(vector, port.vector) < 0) return;
    port.isAgreed = true;
    port.isProposing = false;
    this.#openPort(port);
  }

  /** Everything behind the bridge is put in step before the other end may forward. */
  #answerProposal(port: TreePort): void {
    port.isProposed = false;
    if (port.role === 'designated' || port.role === 'disabled') return;
    if (!port.agrees)
      for (const other of this.ports)
        if (other !== port && other.role === 'designated' && !other.isOperEdge && !other.isAgreed) this.#block(other);
    port.agrees = true;
    port.isDue = true;
  }

  #forget(port: TreePort): void {
    port.expiresMs = never;
    if (!port.isHeard) return;
    port.counters.timeouts++;
    port.isHeard = false;
    this.#chooseRoles();
  }

  /** The best of all that is known becomes the root, and every port gets its role. */
  #chooseRoles(): void {
    const before = this.root.root;
    let best = this.#ownVector;
    let rootPort: TreePort | undefined;
    for (const port of this.ports) {
      if (!port.isLinkUp || !port.isHeard || port.vector.bridge === this.#bridge) continue;
      const found = { ...port.vector, cost: port.vector.cost + port.cost };
      const order = compareVectors(found, best);
      if (order < 0 || (order === 0 && rootPort !== undefined && port.id < rootPort.id)) {
        best = found;
        rootPort = port;
      }
    }
    this.root = best;
    this.#times =
      rootPort === undefined ? this.#ownTimes : { ...rootPort.times, messageAge: rootPort.times.messageAge + 1 };
    if (before !== best.root) this.counters.rootChanges++;
    for (const port of this.ports) this.#setRole(port, this.#roleOf(port, rootPort));
  }

  #roleOf(port: TreePort, rootPort: TreePort | undefined): PortRole {
    if (!port.isLinkUp) return 'disabled';
    if (port === rootPort) return 'root';
    if (!port.isHeard || compareVectors(port.vector, this.#designatedVector(port)) > 0) return 'designated';
    return port.vector.bridge === this.#bridge ? 'backup' : 'alternate';
  }

  #designatedVector({ id }: TreePort): PriorityVector {
    return { root: this.root.root, cost: this.root.cost, bridge: this.#bridge, port: id };
  }

  #setRole(port: TreePort, role: PortRole): void {
    const isNew = port.role !== role;
    // A port that has led to the root may close a loop with the one that does now.
    if (isNew && port.role === 'root' && port.isRapid) port.state = 'discarding';
    port.role = role;
    if (role === 'designated') {
      const vector = this.#designatedVector(port);
      if (compareVectors(vector, port.vector) !== 0 || port.isHeard) {
        Object.assign(port, { vector, isHeard: false, expiresMs: never, isAgreed: false, isProposing: false });
        port.isDue = true;
      }
      port.times = this.#times;
      port.agrees = false;
      if (isNew) this.#openPort(port);
      this.#propose(port);
    } else if (isNew && role === 'root') this.#openPort(port);
    else if (isNew) this.#block(port);
  }

  #propose(port: TreePort): void {
    const isReady = port.state === 'forwarding' || port.isAgreed || port.isOperEdge || !port.isPointToPoint;
    if (isReady || port.isProposing || !port.isRapid) return;
    port.isProposing = true;
    port.isDue = true;
  }

  /** Towards forwarding: at once if that is safe, else in steps. */
  #openPort(port: TreePort): void {
    if (port.state === 'forwarding') return;
    const isSafe = port.role === 'root' ? port.isRapid : port.isAgreed;
    if (isSafe || (port.isOperEdge && port.role === 'designated')) this.#forward(port);
    else if (port.nextStateMs === never) port.nextStateMs = this.#nowMs + this.#stepMs(port);
  }

  /** Time in a state on the way to forwarding. */
  #stepMs({ isRapid }: TreePort): number {
    return (isRapid ? this.#times.hello : this.#times.forwardDelay) * second;
  }

  #advanceState(port: TreePort): void {
    port.nextStateMs = never;
    if (port.role !== 'root' && port.role !== 'designated') return;
    if (port.state === 'learning') this.#forward(port);
    else if (port.state === 'discarding') {
      port.state = 'learning';
      port.nextStateMs = this.#nowMs + this.#stepMs(port);
    }
  }

  #forward(port: TreePort): void {
    port.state = 'forwarding';
    port.nextStateMs = never;
    port.isProposing = false;
    port.isDue = true;
    if (port.isOperEdge) return;
    this.#changeTopology(undefined);
  }

  #block(port: TreePort): void {
    port.state = 'discarding';
    port.nextStateMs = never;
    port.isProposing = false;
    if (port.role === 'designated') {
      port.isAgreed = false;
      this.#openPort(port);
      this.#propose(port);
    }
  }

  /** The tree has changed: every port but the one that said so reports it. */
  #changeTopology(except: TreePort | undefined): void {
    this.counters.topologyChanges++;
    for (const port of this.ports) if (port !== except) this.#reportChange(port);
  }

  #passChangeOn(from: TreePort): void {
    const isKnown = this.ports.some((port) => port !== from && this.#nowMs < port.changeUntilMs);
    if (isKnown) return;
    this.counters.topologyChanges++;
    for (const port of this.ports) if (port !== from) this.#reportChange(port);
  }

  #reportChange(port: TreePort): void {
    if (port.isOperEdge || (port.role !== 'root' && port.role !== 'designated')) return;
    const { hello, maxAge, forwardDelay } = this.#times;
    port.changeUntilMs = this.#nowMs + (port.isRapid ? hello + 1 : maxAge + forwardDelay) * second;
    port.isDue = true;
  }

  #onHello(port: TreePort): void {
    port.helloMs = this.#nowMs + this.#times.hello * second;
    const reportsChange = port.role === 'root' && this.#nowMs < port.changeUntilMs;
    if (port.role === 'designated' || reportsChange) port.isDue = true;
  }

  #transmit(port: TreePort): void {
    port.isDue = false;
    const isChanging = this.#nowMs < port.changeUntilMs;
    if (port.isRapid) this.#send(port, bpduKind.rapid, this.#flagsOf(port, isChanging));
    else if (port.role === 'designated') {
      const acknowledges = port.acknowledges ? bpduFlag.acknowledgement : 0;
      this.#send(port, bpduKind.config, (isChanging ? bpduFlag.topologyChange : 0) | acknowledges);
    } else if (port.role === 'root' && isChanging) this.#send(port, bpduKind.topologyChange, 0);
    port.acknowledges = false;
  }

  #flagsOf({ state, isProposing, agrees, role }: TreePort, isChanging: boolean): number {
    let flags = isChanging ? bpduFlag.topologyChange : 0;
    if (isProposing && role === 'designated') flags |= bpduFlag.proposal;
    if (agrees) flags |= bpduFlag.agreement;
    if (state !== 'discarding') flags |= bpduFlag.learning;
    if (state === 'forwarding') flags |= bpduFlag.forwarding;
    return flags;
  }

  #send(port: TreePort, kind: number, flags: number): void {
    const frames = this.#writers[port.index] as FrameWriter;
    const at = frames.begin(port.index, maxBpduBytes);
    if (at < 0) return;
    const vector = this.#designatedVector(port);
    const end = writeBpdu(frames.memory, at, { kind, flags, role: roleCodes[port.role], vector, times: this.#times });
    port.counters.sent++;
    port.sentThisSecond++;
    const sourceMac = this.#macs[port.index] as Uint8Array;
    // Frames of LLC have their length where others have a type.
    frames.send(at, end, end - at, { path: port.index, tags: 0, sourceMac, destinationMac: bridgeGroupMac });
  }
}
