import type { ResultRow } from '@rushhour/protocol';
import { parseMac, SpanningTree, type SpanningTreeOptions, type Tree, type TreePort } from '@rushhour/wire';
import { linkStateOf, speedMbpsOf } from '../../net/packet/device.ts';
import { AccessPort } from '../access-port.ts';
import type { StpProfile } from '../options/access-profiles.ts';
import { textOfBridge, vlansIn } from './bridge-texts.ts';

/** The state of the links of the machine is looked at this often. */
const linkCheckMs = 200;
const second = 1000;
/** Cost of a link of 1 Mbit/s (IEEE 802.1D-2004, 17.14). */
const costOfMegabit = 20_000_000;
const defaultMbps = 10_000;

/** What the profile says about a bridge with these ports. */
const treeOptionsOf = (profile: StpProfile, ports: readonly AccessPort[]): SpanningTreeOptions => ({
  isRapid: profile.bridge.version !== 'stp',
  region: profile.bridge.version === 'mstp' ? regionOf(profile.mst) : undefined,
  ...bridgeOptionsOf(profile, ports),
});

const regionOf = ({ region, revision, instances }: StpProfile['mst']): SpanningTreeOptions['region'] => ({
  ...{ name: region, revision },
  instances: instances.map(({ id, vlans, priority }) => ({ id, vlans: vlansIn(vlans), priority })),
});

const bridgeOptionsOf = ({ bridge, port, events }: StpProfile, ports: readonly AccessPort[]) => ({
  priority: bridge.priority,
  mac: bridge.address === undefined ? (ports[0] as AccessPort).mac : parseMac(bridge.address),
  helloSec: bridge.helloSec,
  maxAgeSec: bridge.maxAgeSec,
  forwardDelaySec: bridge.forwardDelaySec,
  txHoldCount: bridge.txHoldCount,
  ports: ports.map(({ name }) => ({
    priority: port.priority,
    cost: port.pathCost || Math.max(Math.floor(costOfMegabit / (speedMbpsOf(name) ?? defaultMbps)), 1),
    isEdge: port.edge,
    isPointToPoint: port.pointToPoint,
  })),
  topologyChangeMs: events.topologyChangeSec * second,
  claimRootMs: events.claimRootSec * second,
});

/** An emulated bridge: the interfaces of an entry are its ports. */
export class Bridge {
  readonly tree: SpanningTree;
  readonly name: string;
  readonly #ports: AccessPort[] = [];
  readonly #isOff: boolean[];
  readonly #rows = new Map<number, string>();
  readonly #protocol: string;
  #isStarted = false;
  #checkedMs = Number.NEGATIVE_INFINITY;

  constructor(names: readonly string[], isCaptured: boolean, profile: StpProfile) {
    this.name = names.join('+');
    this.#protocol = profile.bridge.version.toUpperCase();
    this.#isOff = names.map(() => false);
    try {
      for (const name of names) this.#ports.push(new AccessPort(name, isCaptured));
    } catch (error) {
      this.close();
      throw error;
    }
    this.tree = new SpanningTree(this.#ports, treeOptionsOf(profile, this.#ports));
    for (const [index, port] of this.#ports.entries())
      port.open({
        receive: (memory, start, end) => void (this.#isStarted && this.tree.receive(index, memory, start, end)),
        advance: () => this.#advance(),
      });
  }

  get interfaces(): readonly string[] {
    return this.#ports.map(({ name }) => name);
  }

  /** From now on the bridge speaks. */
  start(): void {
    this.#isStarted = true;
  }

  /** Takes a port down on purpose, or up again. */
  setPort(name: string, isUp: boolean): void {
    const index = this.interfaces.indexOf(name);
    if (index >= 0) this.#isOff[index] = !isUp;
    this.#checkedMs = Number.NEGATIVE_INFINITY;
  }

  /** Rows of ports that have changed since the last call. */
  takeRows(): ResultRow[] {
    const rows = this.tree.trees.flatMap((tree, number) => tree.ports.map((port) => this.#rowOf(tree, port, number)));
    return rows.filter((row) => {
      const text = JSON.stringify(row);
      if (this.#rows.get(row.index) === text) return false;
      this.#rows.set(row.index, text);
      return true;
    });
  }

  close(): void {
    for (const port of this.#ports) port.close();
  }

  /** Ports have clocks of their own: that of the first counts. */
  #advance(): void {
    if (!this.#isStarted) return;
    const { nowMs } = this.#ports[0] as AccessPort;
    if (nowMs - this.#checkedMs >= linkCheckMs) {
      this.#checkedMs = nowMs;
      for (const [index, { name }] of this.#ports.entries())
        this.tree.setLink(index, !this.#isOff[index] && linkStateOf(name) === 'up');
    }
    this.tree.advance(nowMs);
    for (const port of this.#ports) port.flush();
  }

  /** Rows of the trees of a region come after those of the tree that all bridges share. */
  #rowOf(tree: Tree, { link, role, state, vector }: TreePort, number: number): ResultRow {
    const { index, isLinkUp, isRapid, cost, counters } = link;
    const isMultiple = this.tree.trees.length > 1;
    return {
      index: number * this.tree.ports.length + index,
      state: isLinkUp ? state : 'down',
      cells: {
        interface: this.interfaces[index] ?? '',
        protocol: isRapid ? this.#protocol : 'STP',
        ...(isMultiple && { instance: tree.id }),
        ...{ link: isLinkUp ? 'up' : 'down', role, cost },
        ...{ root: textOfBridge(tree.rootId), rootCost: tree.id === 0 ? tree.root.cost : tree.root.internalCost },
        ...(this.#protocol === 'MSTP' && { regionalRoot: textOfBridge(tree.root.regionalRoot) }),
        ...{ designated: textOfBridge(vector.bridge), timeouts: counters.timeouts },
      },
    };
  }
}
