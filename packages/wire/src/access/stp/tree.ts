import type { TreeTimes } from './bpdu.ts';
import type { BridgePort } from './bridge-port.ts';
import { compareVectors, type PriorityVector } from './priority-vector.ts';
import { bpduFlag, type TreeMessage } from './tree-message.ts';
import { createTreePort, type PortRole, roleCodes, type TreePort } from './tree-port.ts';

export interface TreeOptions {
  /** 0: the tree that all bridges share; others are those of a region. */
  readonly id: number;
  readonly bridge: string;
  readonly links: readonly BridgePort[];
  readonly times: TreeTimes;
  readonly clock: { readonly nowMs: number };
  /** For a tree of a region: the one that all bridges share. */
  readonly shared?: Tree;
}

const second = 1000;
const never = Number.POSITIVE_INFINITY;
/** Silence of so many hellos ends what was heard. */
const silentHellos = 3;
/** Bridges of a region that a message crosses at most. */
const maxHops = 20;

const leadsUp = (role: PortRole): boolean => role === 'root' || role === 'master';

/** One spanning tree of a bridge: roles and states of its ports. */
export class Tree {
  readonly id: number;
  readonly ports: readonly TreePort[];
  readonly counters = { topologyChanges: 0, rootChanges: 0 };
  /** The root and the cost to it. */
  root: PriorityVector;
  #bridge: string;
  #times: TreeTimes;
  #remainingHops = maxHops;
  readonly #ownTimes: TreeTimes;
  readonly #clock: TreeOptions['clock'];
  readonly #shared: Tree | undefined;

  constructor({ id, bridge, links, times, clock, shared }: TreeOptions) {
    this.id = id;
    this.#bridge = bridge;
    this.#times = times;
    this.#ownTimes = times;
    this.#clock = clock;
    this.#shared = shared;
    this.root = this.#ownVector;
    this.ports = links.map((link) => createTreePort(link, { vector: this.root, times }));
  }

  /** Priority and MAC of its root. */
  get rootId(): string {
    return this.id === 0 ? this.root.root : this.root.regionalRoot;
  }

  get isRoot(): boolean {
    return this.rootId === this.#bridge;
  }

  get bridge(): string {
    return this.#bridge;
  }

  set bridge(id: string) {
    this.#bridge = id;
  }

  get times(): TreeTimes {
    return this.#shared?.times ?? this.#times;
  }

  /** The link of a port has come up or gone down. */
  reset(index: number): void {
    const port = this.ports[index] as TreePort;
    Object.assign(port, { isHeard: false, isProposing: false, isProposed: false, isAgreed: false, agrees: false });
    port.expiresMs = never;
  }

  /** What a designated port says. Returns false if the bridge knows better. */
  hear(index: number, { vector, flags, remainingHops }: TreeMessage, times: TreeTimes, isInternal: boolean): boolean {
    const port = this.ports[index] as TreePort;
    const order = compareVectors(vector, port.vector);
    const isSameSender =
      port.isHeard && vector.bridge === port.vector.bridge && (vector.port & 0xfff) === (port.vector.port & 0xfff);
    if (order > 0 && !isSameSender) {
      // A worse bridge gets an answer at once.
      if (port.role === 'designated') port.link.isDue = true;
      if ((flags & bpduFlag.learning) !== 0) port.isAgreed = false;
      return false;
    }
    const isNew = order !== 0 || !port.isHeard;
    Object.assign(port, { vector, times, remainingHops, isInternal, isHeard: true });
    port.isMastered = this.id > 0 && (flags & bpduFlag.master) !== 0;
    const isOld = isInternal ? remainingHops <= 1 : times.messageAge + 1 > times.maxAge;
    port.expiresMs = this.#clock.nowMs + (isOld ? 0 : silentHellos * times.hello * second);
    if ((flags & bpduFlag.proposal) !== 0) port.isProposed = true;
    if (isNew) Object.assign(port, { isAgreed: false, agrees: false, isProposing: false });
    return true;
  }

  /** The other end agrees to what a port says. */
  onAgreement(index: number, { vector }: TreeMessage): void {
    const port = this.ports[index] as TreePort;
    if (port.role === 'designated' && compareVectors(vector, port.vector) >= 0) this.agree(index);
  }

  agree(index: number): void {
    const port = this.ports[index] as TreePort;
    if (port.role !== 'designated') return;
    port.isAgreed = true;
    port.isProposing = false;
    this.#openPort(port);
  }

  /** Everything behind the bridge is put in step before the other end may forward. */
  answerProposal(index: number): void {
    const port = this.ports[index] as TreePort;
    if (!port.isProposed) return;
    port.isProposed = false;
    if (port.role === 'designated' || port.role === 'disabled') return;
    if (!port.agrees)
      for (const other of this.ports)
        if (other !== port && other.role === 'designated' && !other.link.isOperEdge && !other.isAgreed)
          this.#block(other);
    port.agrees = true;
    port.link.isDue = true;
  }

  /** Nothing more is known from a port; returns false if nothing was. */
  forget(index: number): boolean {
    const port = this.ports[index] as TreePort;
    port.expiresMs = never;
    const wasHeard = port.isHeard;
    port.isHeard = false;
    return wasHeard;
  }

  /** The best of all that is known becomes the root, and every port gets its role. */
  chooseRoles(): void {
    const before = this.rootId;
    let best = this.#ownVector;
    let rootPort: TreePort | undefined;
    for (const port of this.ports) {
      if (!port.link.isLinkUp || !port.isHeard || port.vector.bridge === this.#bridge) continue;
      const found = this.#throughPort(port);
      const order = compareVectors(found, best);
      if (order < 0 || (order === 0 && rootPort !== undefined && port.link.id < rootPort.link.id)) {
        best = found;
        rootPort = port;
      }
    }
    this.root = best;
    this.#followTimes(rootPort);
    if (before !== this.rootId) this.counters.rootChanges++;
    for (const port of this.ports) this.#setRole(port, this.#roleOf(port, rootPort));
  }

  /** The next step towards forwarding, where its time has come. */
  advance(index: number): void {
    const port = this.ports[index] as TreePort;
    if (this.#clock.nowMs < port.nextStateMs) return;
    port.nextStateMs = never;
    if (!leadsUp(port.role) && port.role !== 'designated') return;
    if (port.state === 'learning') this.#forward(port);
    else if (port.state === 'discarding') {
      port.state = 'learning';
      port.nextStateMs = this.#clock.nowMs + this.#stepMs(port);
    }
  }

  /** The tree has changed: every port but the one that said so reports it. */
  changeTopology(except?: number): void {
    this.counters.topologyChanges++;
    for (const [index, port] of this.ports.entries()) if (index !== except) this.#reportChange(port);
  }

  passChangeOn(from: number): void {
    const isKnown = this.ports.some((port, index) => index !== from && this.isChanging(port));
    if (!isKnown) this.changeTopology(from);
  }

  isChanging({ changeUntilMs }: TreePort): boolean {
    return this.#clock.nowMs < changeUntilMs;
  }

  /** A port speaks at every hello, or has a change to report. */
  speaks(index: number): boolean {
    const port = this.ports[index] as TreePort;
    return port.role === 'designated' || (port.role === 'root' && this.isChanging(port));
  }

  /** What a port says about this tree. */
  messageOf(index: number): TreeMessage {
    const port = this.ports[index] as TreePort;
    const { role } = port;
    const message = { role: roleCodes[role], vector: this.#designatedVector(port), remainingHops: this.#remainingHops };
    return { ...message, flags: this.#flagsOf(port) };
  }

  get #ownVector(): PriorityVector {
    const own = { regionalRoot: this.#bridge, internalCost: 0, bridge: this.#bridge, port: 0, cost: 0 };
    return { ...own, root: this.id === 0 ? this.#bridge : '' };
  }

  /** What the root would cost through a port. Outside of the region a bridge is the root of its own. */
  #throughPort({ vector, isInternal, link }: TreePort): PriorityVector {
    if (isInternal) return { ...vector, internalCost: vector.internalCost + link.cost };
    return { ...vector, cost: vector.cost + link.cost, regionalRoot: this.#bridge, internalCost: 0 };
  }

  #followTimes(rootPort: TreePort | undefined): void {
    const isInternal = rootPort?.isInternal ?? false;
    this.#remainingHops = rootPort !== undefined && isInternal ? rootPort.remainingHops - 1 : maxHops;
    const { times } = rootPort ?? { times: this.#ownTimes };
    const isOutside = rootPort !== undefined && !isInternal;
    this.#times = isOutside ? { ...times, messageAge: times.messageAge + 1 } : times;
  }

  #roleOf(port: TreePort, rootPort: TreePort | undefined): PortRole {
    if (!port.link.isLinkUp) return 'disabled';
    const outside = this.#shared?.ports[port.link.index];
    if (outside?.isHeard && !outside.isInternal) return outside.role === 'root' ? 'master' : outside.role;
    if (port === rootPort) return 'root';
    if (!port.isHeard || compareVectors(port.vector, this.#designatedVector(port)) > 0) return 'designated';
    return port.vector.bridge === this.#bridge ? 'backup' : 'alternate';
  }

  /** Neighbours that speak STP take the root of the region for the bridge that speaks. */
  #designatedVector({ link }: TreePort): PriorityVector {
    const inRegion = link.isRapid ? {} : { regionalRoot: this.#bridge, internalCost: 0 };
    return { ...this.root, ...inRegion, bridge: this.#bridge, port: link.id };
  }

  #setRole(port: TreePort, role: PortRole): void {
    const isNew = port.role !== role;
    // A port that has led to the root may close a loop with the one that does now.
    if (leadsUp(port.role) && !leadsUp(role) && port.link.isRapid) port.state = 'discarding';
    port.role = role;
    if (role === 'designated' || role === 'master') this.#speakFor(port);
    if (role === 'designated') {
      port.agrees = false;
      if (isNew) this.#openPort(port);
      this.#propose(port);
    } else if (isNew && leadsUp(role)) this.#openPort(port);
    else if (isNew) this.#block(port);
  }

  /** The bridge itself is the best on the link of the port. */
  #speakFor(port: TreePort): void {
    const vector = this.#designatedVector(port);
    if (compareVectors(vector, port.vector) !== 0 || port.isHeard) {
      Object.assign(port, { vector, isHeard: false, expiresMs: never, isAgreed: false, isProposing: false });
      port.link.isDue = true;
    }
    port.times = this.times;
  }

  #propose(port: TreePort): void {
    const { isOperEdge, isPointToPoint, isRapid } = port.link;
    const isReady = port.state === 'forwarding' || port.isAgreed || isOperEdge || !isPointToPoint;
    if (isReady || port.isProposing || !isRapid) return;
    port.isProposing = true;
    port.link.isDue = true;
  }

  /** Towards forwarding: at once if that is safe, else in steps. */
  #openPort(port: TreePort): void {
    if (port.state === 'forwarding') return;
    const isSafe = leadsUp(port.role) ? port.link.isRapid : port.isAgreed;
    if (isSafe || (port.link.isOperEdge && port.role === 'designated')) this.#forward(port);
    else if (port.nextStateMs === never) port.nextStateMs = this.#clock.nowMs + this.#stepMs(port);
  }

  /** Time in a state on the way to forwarding. */
  #stepMs({ link }: TreePort): number {
    return (link.isRapid ? this.times.hello : this.times.forwardDelay) * second;
  }

  #forward(port: TreePort): void {
    port.state = 'forwarding';
    port.nextStateMs = never;
    port.isProposing = false;
    port.link.isDue = true;
    if (!port.link.isOperEdge) this.changeTopology();
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

  #reportChange(port: TreePort): void {
    if (port.link.isOperEdge || (!leadsUp(port.role) && port.role !== 'designated')) return;
    const { hello, maxAge, forwardDelay } = this.times;
    port.changeUntilMs = this.#clock.nowMs + (port.link.isRapid ? hello + 1 : maxAge + forwardDelay) * second;
    port.link.isDue = true;
  }

  #flagsOf(port: TreePort): number {
    const { state, isProposing, agrees, role } = port;
    let flags = this.isChanging(port) ? bpduFlag.topologyChange : 0;
    if (isProposing && role === 'designated') flags |= bpduFlag.proposal;
    if (agrees) flags |= bpduFlag.agreement;
    if (state !== 'discarding') flags |= bpduFlag.learning;
    if (state === 'forwarding') flags |= bpduFlag.forwarding;
    if (this.id > 0 && this.#leadsOutside(port)) flags |= bpduFlag.master;
    return flags;
  }

  /** Another port leads out of the region. */
  #leadsOutside(port: TreePort): boolean {
    return this.ports.some((other) => other !== port && (other.role === 'master' || other.isMastered));
  }
}
