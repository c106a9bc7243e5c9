import { isSameBytes, type Memory } from '../../bytes/memory.ts';
import { ethernetBytes, isSameMac } from '../../ethernet/ethernet.ts';
import type { FrameSink } from '../../host-group/hosts.ts';
import { FrameWriter } from '../frames.ts';
import { type Bpdu, bpduKind, bridgeGroupMac, maxBpduBytes, readBpdu, type TreeTimes, writeBpdu } from './bpdu.ts';
import { type BridgePort, type BridgePortOptions, createBridgePort } from './bridge-port.ts';
import type { MstPart } from './mst-part.ts';
import { bridgeIdOf } from './priority-vector.ts';
import { type MstRegion, regionIdOf } from './region.ts';
import { Tree } from './tree.ts';
import { bpduFlag, portRoleCode, type TreeMessage } from './tree-message.ts';

export interface SpanningTreeOptions {
  /** Without it STP is spoken. */
  readonly isRapid: boolean;
  /** With it MSTP is spoken. */
  readonly region?: MstRegion | undefined;
  readonly priority: number;
  readonly mac: Uint8Array;
  readonly helloSec: number;
  readonly maxAgeSec: number;
  readonly forwardDelaySec: number;
  readonly txHoldCount: number;
  readonly ports: readonly BridgePortOptions[];
  /** Time between topology changes on purpose; 0: none. */
  readonly topologyChangeMs: number;
  /** Time between attempts to become root; 0: none. */
  readonly claimRootMs: number;
}

const second = 1000;
const never = Number.POSITIVE_INFINITY;
/** After a change of the version a port keeps it for this time. */
const migrateMs = 3 * second;

/**
 * A bridge of STP, RSTP (IEEE 802.1D-2004) or MSTP (IEEE 802.1Q) without hosts: it agrees with its neighbours on trees and
 * forwards nothing.
 */
export class SpanningTree {
  readonly ports: readonly BridgePort[];
  /** The tree that all bridges share, then those of the region. */
  readonly trees: readonly [Tree, ...Tree[]];
  readonly #options: SpanningTreeOptions;
  readonly #region: Uint8Array | undefined;
  readonly #writers: readonly FrameWriter[];
  readonly #macs: readonly Uint8Array[];
  readonly #clock = { nowMs: 0 };
  #second = 0;
  #changeMs: number;
  #claimMs: number;
  #isClaiming = false;

  constructor(links: readonly { readonly sink: FrameSink; readonly mac: Uint8Array }[], options: SpanningTreeOptions) {
    this.#options = options;
    this.#writers = links.map(({ sink }) => new FrameWriter(sink));
    this.#macs = links.map(({ mac }) => mac);
    this.ports = options.ports.map((port, index) => createBridgePort(index, port, options.isRapid));
    this.#region = options.region && regionIdOf(options.region);
    const common = { links: this.ports, clock: this.#clock, times: this.#ownTimes };
    const shared = new Tree({ ...common, id: 0, bridge: this.#bridgeOf(0) });
    const ids = (options.region?.instances ?? []).map(({ id }) => id);
    this.trees = [shared, ...ids.map((id) => new Tree({ ...common, id, bridge: this.#bridgeOf(id), shared }))];
    this.#changeMs = options.topologyChangeMs || never;
    this.#claimMs = options.claimRootMs || never;
  }

  get isRoot(): boolean {
    return this.trees[0].isRoot;
  }

  get counters(): Tree['counters'] {
    const sumOf = (name: keyof Tree['counters']) => this.trees.reduce((sum, { counters }) => sum + counters[name], 0);
    return { topologyChanges: sumOf('topologyChanges'), rootChanges: sumOf('rootChanges') };
  }

  setLink(index: number, isUp: boolean): void {
    const port = this.ports[index] as BridgePort;
    if (port.isLinkUp === isUp) return;
    Object.assign(port, { isLinkUp: isUp, isOperEdge: port.isEdge, isRapid: this.#options.isRapid });
    port.versionUntilMs = this.#clock.nowMs + migrateMs;
    for (const tree of this.trees) tree.reset(index);
    this.#chooseRoles();
  }

  /** A frame of a port; false if it is no message of bridges. */
  receive(index: number, memory: Memory, start: number, end: number): boolean {
    if (end - start < ethernetBytes || !isSameMac(memory.bytes, start, bridgeGroupMac, 0)) return false;
    const port = this.ports[index] as BridgePort;
    const payload = start + ethernetBytes;
    const length = memory.view.getUint16(start + ethernetBytes - 2);
    const bpdu = payload + length <= end ? readBpdu(memory, payload, payload + length) : undefined;
    if (bpdu === undefined) port.counters.invalid++;
    else if (port.isLinkUp) this.#onBpdu(port, bpdu);
    return true;
  }

  /** Milliseconds since the start. */
  advance(nowMs: number): void {
    this.#clock.nowMs = nowMs;
    const now = Math.floor(nowMs / second);
    if (now !== this.#second) for (const port of this.ports) port.sentThisSecond = 0;
    this.#second = now;
    this.#runEvents();
    for (const port of this.ports) {
      if (!port.isLinkUp) continue;
      this.#expire(port);
      for (const tree of this.trees) tree.advance(port.index);
      if (nowMs >= port.helloMs) this.#onHello(port);
      if (port.isDue && port.sentThisSecond < this.#options.txHoldCount) this.#transmit(port);
    }
  }

  get #ownTimes(): TreeTimes {
    const { helloSec: hello, maxAgeSec: maxAge, forwardDelaySec: forwardDelay } = this.#options;
    return { messageAge: 0, maxAge, hello, forwardDelay };
  }

  /** Who the bridge is in a tree. */
  #bridgeOf(id: number): string {
    const { priority, region, mac } = this.#options;
    const own = id === 0 ? priority : (region?.instances.find((one) => one.id === id)?.priority ?? priority);
    return bridgeIdOf((this.#isClaiming ? 0 : own) + id, mac);
  }

  #chooseRoles(): void {
    for (const tree of this.trees) tree.chooseRoles();
  }

  /** Disturbs the trees on purpose. */
  #runEvents(): void {
    const { topologyChangeMs, claimRootMs } = this.#options;
    const { nowMs } = this.#clock;
    if (nowMs >= this.#changeMs) {
      this.#changeMs += topologyChangeMs;
      for (const tree of this.trees) tree.changeTopology();
    }
    if (nowMs < this.#claimMs) return;
    // A claim lasts half of the time to the next one.
    this.#claimMs += claimRootMs / 2;
    this.#isClaiming = !this.#isClaiming;
    for (const tree of this.trees) tree.bridge = this.#bridgeOf(tree.id);
    this.#chooseRoles();
  }

  #onBpdu(port: BridgePort, bpdu: Bpdu): void {
    const { index } = port;
    port.counters.received++;
    this.#adaptVersion(port, bpdu);
    port.isOperEdge = false;
    if (bpdu.kind === bpduKind.topologyChange) {
      port.acknowledges = true;
      port.isDue = true;
      for (const tree of this.trees) tree.changeTopology(index);
      return;
    }
    const [shared, ...others] = this.trees;
    const { flags } = bpdu.message;
    const part = this.#partOf(port, bpdu);
    const sharedPort = shared.ports[index];
    if ((flags & bpduFlag.acknowledgement) !== 0 && sharedPort) sharedPort.changeUntilMs = 0;
    if ((flags & bpduFlag.topologyChange) !== 0)
      for (const tree of part === undefined ? this.trees : [shared]) tree.passChangeOn(index);
    this.#onShared(port, bpdu, part);
    for (const tree of others) this.#onOther(tree, port, bpdu, part);
  }

  /** What a message adds if it comes from a bridge of the same region. */
  #partOf({ isRapid }: BridgePort, { mst }: Bpdu): MstPart | undefined {
    const isSame = isRapid && this.#region && mst !== undefined && isSameBytes(mst.region, this.#region);
    return isSame ? mst : undefined;
  }

  /** The tree that all bridges share. */
  #onShared({ index, isPointToPoint }: BridgePort, { message, times, mst }: Bpdu, part: MstPart | undefined): void {
    const [shared] = this.trees;
    const { internalCost = 0, bridge = message.vector.bridge, remainingHops = 0 } = (this.#region && mst) ?? {};
    const whole = { ...message, remainingHops, vector: { ...message.vector, internalCost, bridge } };
    if (message.role === portRoleCode.designated) {
      if (!shared.hear(index, whole, times, part !== undefined)) return;
      // Outside of the region one message speaks for all trees.
      if (part === undefined) this.#leaveRegion(index);
      this.#chooseRoles();
      for (const tree of this.trees) tree.answerProposal(index);
    } else if ((message.flags & bpduFlag.agreement) !== 0 && isPointToPoint) {
      shared.onAgreement(index, whole);
      if (part === undefined && shared.ports[index]?.isAgreed)
        for (const tree of this.trees.slice(1)) tree.agree(index);
    }
  }

  #leaveRegion(index: number): void {
    const [shared, ...others] = this.trees;
    const isProposed = shared.ports[index]?.isProposed ?? false;
    for (const tree of others) {
      tree.forget(index);
      const port = tree.ports[index];
      if (port !== undefined) port.isProposed = isProposed;
    }
  }

  /** A tree of the region. */
  #onOther(tree: Tree, { index, isPointToPoint }: BridgePort, bpdu: Bpdu, part: MstPart | undefined): void {
    const message = part?.messages.get(tree.id);
    if (part === undefined || message === undefined) return;
    if ((message.flags & bpduFlag.topologyChange) !== 0) tree.passChangeOn(index);
    if (message.role === portRoleCode.designated) {
      if (!tree.hear(index, message, bpdu.times, true)) return;
      tree.chooseRoles();
      tree.answerProposal(index);
    } else if ((message.flags & bpduFlag.agreement) !== 0 && isPointToPoint && this.#isInStep(index, bpdu.message))
      tree.onAgreement(index, message);
  }

  /** Both ends have the same root outside of the region and the same way to it. */
  #isInStep(index: number, { vector: { root, cost, regionalRoot } }: TreeMessage): boolean {
    const own = this.trees[0].ports[index]?.vector;
    return own?.root === root && own.cost === cost && own.regionalRoot === regionalRoot;
  }

  /** A port speaks the protocol of the other end. */
  #adaptVersion(port: BridgePort, { kind }: Bpdu): void {
    const { nowMs } = this.#clock;
    if (!this.#options.isRapid || nowMs < port.versionUntilMs) return;
    const isRapid = kind === bpduKind.rapid;
    if (port.isRapid === isRapid) return;
    port.isRapid = isRapid;
    port.versionUntilMs = nowMs + migrateMs;
  }

  /** Ends what has not been heard again. */
  #expire(port: BridgePort): void {
    const { index } = port;
    for (const tree of this.trees) {
      const { expiresMs = never } = tree.ports[index] ?? {};
      if (this.#clock.nowMs < expiresMs || !tree.forget(index)) continue;
      port.counters.timeouts++;
      this.#chooseRoles();
    }
  }

  #onHello(port: BridgePort): void {
    port.helloMs = this.#clock.nowMs + this.trees[0].times.hello * second;
    if (this.trees.some((tree) => tree.speaks(port.index))) port.isDue = true;
  }

  #transmit(port: BridgePort): void {
    const [shared] = this.trees;
    port.isDue = false;
    const message = shared.messageOf(port.index);
    const { role } = message;
    if (port.isRapid) this.#send(port, { kind: bpduKind.rapid, message, mst: this.#ownPart(port.index, message) });
    else if (role === portRoleCode.designated) {
      const acknowledges = port.acknowledges ? bpduFlag.acknowledgement : 0;
      const flags = (message.flags & bpduFlag.topologyChange) | acknowledges;
      this.#send(port, { kind: bpduKind.config, message: { ...message, flags } });
    } else if (role === portRoleCode.root && (message.flags & bpduFlag.topologyChange) !== 0)
      this.#send(port, { kind: bpduKind.topologyChange, message });
    port.acknowledges = false;
  }

  #ownPart(index: number, { vector, remainingHops }: TreeMessage): MstPart | undefined {
    if (this.#region === undefined) return undefined;
    const { internalCost, bridge } = vector;
    const messages = new Map(this.trees.slice(1).map((tree) => [tree.id, tree.messageOf(index)]));
    return { region: this.#region, internalCost, bridge, remainingHops, messages };
  }

  #send(port: BridgePort, bpdu: Pick<Bpdu, 'kind' | 'message' | 'mst'>): void {
    const frames = this.#writers[port.index] as FrameWriter;
    const at = frames.begin(port.index, maxBpduBytes);
    if (at < 0) return;
    const end = writeBpdu(frames.memory, at, { ...bpdu, times: this.trees[0].times });
    port.counters.sent++;
    port.sentThisSecond++;
    const sourceMac = this.#macs[port.index] as Uint8Array;
    // Frames of LLC have their length where others have a type.
    frames.send(at, end, end - at, { path: port.index, tags: 0, sourceMac, destinationMac: bridgeGroupMac });
  }
}
