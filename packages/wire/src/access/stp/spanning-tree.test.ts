import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfHex, copyOf, createMemory, hexOfBytes, Memory } from '../../bytes/memory.ts';
import type { FrameSink } from '../../host-group/hosts.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import { bpduKind, readBpdu, writeBpdu } from './bpdu.ts';
import { type MstInstance, regionIdOf } from './region.ts';
import { SpanningTree, type SpanningTreeOptions } from './spanning-tree.ts';
import type { Tree } from './tree.ts';

const optionsOf = (bridge: number, ports: number, more: Partial<SpanningTreeOptions> = {}): SpanningTreeOptions => ({
  ...{ isRapid: true, priority: 32_768, mac: Uint8Array.of(2, 0, 0, 0, 0, bridge + 1) },
  ...{ helloSec: 2, maxAgeSec: 20, forwardDelaySec: 15, txHoldCount: 6, topologyChangeMs: 0, claimRootMs: 0 },
  ports: Array.from({ length: ports }, () => ({ priority: 128, cost: 2000, isEdge: false, isPointToPoint: true })),
  ...more,
});

const rolesIn = ({ ports }: Tree) => ports.map(({ role, state }) => `${role} ${state}`);

type Wire = readonly [bridge: number, port: number, otherBridge: number, otherPort: number];

/** Bridges joined by wires that can be cut. */
const createNetwork = (count: number, wires: readonly Wire[], more: readonly Partial<SpanningTreeOptions>[] = []) => {
  const queue: { bridge: number; port: number; frame: Uint8Array }[] = [];
  const frames: Uint8Array[] = [];
  const cut = new Set<number>();
  const otherEnd = (bridge: number, port: number) => {
    for (const [index, [a, i, b, j]] of wires.entries()) {
      if (cut.has(index)) continue;
      if (a === bridge && i === port) return { bridge: b, port: j };
      if (b === bridge && j === port) return { bridge: a, port: i };
    }
    return undefined;
  };
  const bridges = Array.from({ length: count }, (_, bridge) => {
    const ports = wires.flatMap(([a, , b]) => [a, b]).filter((one) => one === bridge).length;
    const links = Array.from({ length: ports }, (_port, port) => {
      const memory = createMemory(2048);
      const commit = (at: number, length: number) => {
        const frame = copyOf(memory.bytes, at, at + length);
        frames.push(frame);
        const to = otherEnd(bridge, port);
        if (to !== undefined) queue.push({ ...to, frame });
      };
      const sink: FrameSink = { memory, mtu: 1500, begin: () => 16, commit };
      return { sink, mac: Uint8Array.of(2, 0, 0, 0, bridge + 1, port + 1) };
    });
    return new SpanningTree(links, optionsOf(bridge, ports, more[bridge]));
  });
  for (const bridge of bridges) for (const { index } of bridge.ports) bridge.setLink(index, true);
  let nowMs = 0;
  const run = (ms: number) => {
    for (const end = nowMs + ms; nowMs < end; ) {
      nowMs += 50;
      for (const bridge of bridges) bridge.advance(nowMs);
      for (const { bridge, port, frame } of queue.splice(0))
        bridges[bridge]?.receive(port, new Memory(frame), 0, frame.length);
    }
  };
  const roles = () => bridges.map(({ trees: [shared] }) => rolesIn(shared));
  return { bridges, run, cut, roles, frames };
};

/** Three bridges in a triangle: port 0 leads to the next, port 1 to the one before. */
const triangle: readonly Wire[] = [
  [0, 0, 1, 1],
  [1, 0, 2, 1],
  [2, 0, 0, 1],
];
const [root, designated] = ['root forwarding', 'designated forwarding'];

const inRegion = (internal: object) => ({ cost: 0, internalCost: 0, root: '', ...internal });

it('messages of bridges are written and read back', () => {
  const memory = createMemory(100);
  const bridge = '8000020000000002';
  const vector = { root: '8000020000000001', cost: 2000, regionalRoot: bridge, internalCost: 0, bridge, port: 0x8001 };
  const times = { messageAge: 1, maxAge: 20, hello: 2, forwardDelay: 15 };
  const message = { flags: 0x30, role: 3, vector, remainingHops: 0 };
  const end = writeBpdu(memory, 0, { kind: bpduKind.rapid, message, times });
  expect(hexOfBytes(memory.bytes, 0, end)).toBe(
    '424203000002023c8000020000000001000007d0800002000000000280010100140002000f0000',
  );
  const { flags, ...rest } = message;
  expect(readBpdu(memory, 0, end)).toMatchObject({ kind: 2, message: rest, times, mst: undefined });
});

it('messages of MSTP carry what the trees of a region say', () => {
  const memory = createMemory(400);
  const [bridge, regionalRoot] = ['7000020000000002', '6000020000000009'];
  const vector = {
    root: '8000020000000001',
    cost: 2000,
    regionalRoot,
    internalCost: 0,
    bridge: regionalRoot,
    port: 0x8001,
  };
  const ofTree = { regionalRoot: '100502000000000a', internalCost: 5, bridge: '3005020000000002', port: 0x8001 };
  const other = { flags: 0, role: 1, vector: inRegion(ofTree), remainingHops: 18 } as never;
  const region = regionIdOf({ name: 'lab', revision: 7, instances: [] });
  const mst = { region, internalCost: 300, bridge, remainingHops: 19, messages: new Map([[5, other]]) };
  const times = { messageAge: 0, maxAge: 20, hello: 2, forwardDelay: 15 };
  const message = { flags: 0, role: 3, vector, remainingHops: 0 };
  const end = writeBpdu(memory, 0, { kind: bpduKind.rapid, message, times, mst });
  expect(end).toBe(3 + 102 + 16);
  const read = readBpdu(memory, 0, end);
  expect(read).toMatchObject({ version: 3, message: { vector }, times });
  expect(read?.mst).toMatchObject({ region, internalCost: 300, bridge, remainingHops: 19 });
  expect(read?.mst?.messages.get(5)).toEqual({ ...(other as object), flags: 1 << 2 });
  // Cut short it is a message of RSTP.
  expect(readBpdu(memory, 0, end - 1)).toMatchObject({ message: { vector }, mst: undefined });
});

it.each<[string, (vlan: number) => number, string]>([
  ['no VLAN in a tree of its own', () => 0, 'ac36177f50283cd4b83821d8ab26de62'],
  ['all VLANs in tree 1', () => 1, 'e13a80f11ed0856acd4ee3476941c73b'],
  ['VLANs in 32 trees in turn', (vlan) => (vlan % 32) + 1, '9d145c267dbe9fb5d893441be3ba08ce'],
])('the digest of a region with %s is that of IEEE 802.1Q, table 13-2', (_name, treeOf, digest) => {
  const vlans = Array.from({ length: 4094 }, (_, i) => i + 1);
  const instances = Map.groupBy(vlans, treeOf)
    .entries()
    .filter(([id]) => id > 0)
    .map(([id, own]) => ({ id, vlans: own, priority: 0 }))
    .toArray();
  expect(hexOfBytes(regionIdOf({ name: '', revision: 0, instances }).subarray(-16))).toBe(digest);
});

describe('a spanning tree', () => {
  it('of RSTP breaks a loop within a second, and mends itself when a link is cut', () => {
    const { bridges, run, cut, roles } = createNetwork(3, triangle);
    run(1000);
    expect(roles()).toEqual([
      [designated, designated],
      [designated, root],
      [root, 'alternate discarding'],
    ]);
    expect(bridges.map(({ isRoot }) => isRoot)).toEqual([true, false, false]);
    cut.add(2);
    // Nobody answers the proposals on the link that is cut.
    run(12_000);
    expect(roles()[2]).toEqual([designated, root]);
    expect(bridges[2]?.counters.topologyChanges).toBeGreaterThan(0);
    expect(bridges[2]?.ports[0]?.counters.timeouts).toBe(1);
  });

  it('of STP goes through listening and learning', () => {
    const slow = { isRapid: false };
    const { run, roles, frames } = createNetwork(3, triangle, [slow, slow, slow]);
    run(14_000);
    expect(roles().flat()).not.toContain(root);
    run(17_000);
    expect(roles()).toEqual([
      [designated, designated],
      [designated, root],
      [root, 'alternate discarding'],
    ]);
    const kinds = frames.map((frame) => readBpdu(new Memory(frame), 14, frame.length)?.kind);
    expect(new Set(kinds)).toEqual(new Set([bpduKind.config, bpduKind.topologyChange]));
  });

  it('has ports that speak STP where a neighbour does', () => {
    const { bridges, run, roles } = createNetwork(2, [[0, 0, 1, 0]], [{}, { isRapid: false, priority: 4096 }]);
    run(40_000);
    expect(roles()).toEqual([[root], [designated]]);
    expect(bridges[0]?.ports[0]?.isRapid).toBe(false);
  });

  it('changes when a bridge claims to be the root, and changes back', () => {
    const { bridges, run } = createNetwork(3, triangle, [{}, {}, { claimRootMs: 10_000 }]);
    run(12_000);
    expect(bridges.map(({ isRoot }) => isRoot)).toEqual([false, false, true]);
    run(12_000);
    expect(bridges[1]?.counters.rootChanges).toBeGreaterThan(1);
  });

  it('sends no more than its limit, and says when it changes the topology on purpose', () => {
    const more = { topologyChangeMs: 100, txHoldCount: 3 };
    const { bridges, run } = createNetwork(2, [[0, 0, 1, 0]], [more, {}]);
    run(10_000);
    expect(bridges[0]?.ports[0]?.counters.sent).toBeLessThanOrEqual(33);
    expect(bridges[0]?.counters.topologyChanges).toBeGreaterThan(90);
    expect(bridges[1]?.counters.topologyChanges).toBeGreaterThan(0);
  });

  it('stands mutated messages', () => {
    const { bridges, run } = createNetwork(3, triangle);
    run(1000);
    const frame = bytesOfHex(
      `0180c2000000020000000101002742420300000${'2023c8000020000000001000007d0800002000000000280010100140002000f0000'}`,
    );
    fc.assert(
      fc.property(fc.nat(frame.length - 1), fc.nat(255), fc.nat(frame.length), (at, value, length) => {
        const bytes = copyOf(frame, 0, length % 4 === 0 ? length : frame.length);
        if (at < bytes.length) bytes[at] = value;
        for (const bridge of bridges) bridge.receive(at % 2, new Memory(bytes), 0, bytes.length);
      }),
      { numRuns: mutationRuns(30_000) },
    );
    run(60_000);
    expect(bridges.map(({ isRoot }) => isRoot)).toEqual([true, false, false]);
  });
});

describe('bridges of MSTP', () => {
  const instance = (id: number, priority = 32_768): MstInstance => ({ id, vlans: [id * 10], priority });
  const regionOf = (name: string, instances: MstInstance[]) => ({ region: { name, revision: 1, instances } });
  const rolesOf = ({ trees }: SpanningTree) => trees.map(rolesIn);
  const discarding = 'alternate discarding';

  it('of a region have trees of their own for their VLANs', () => {
    const low = 4096;
    const { bridges, run, cut } = createNetwork(3, triangle, [
      regionOf('a', [instance(1), instance(2)]),
      regionOf('a', [instance(1, low), instance(2)]),
      regionOf('a', [instance(1), instance(2, low)]),
    ]);
    run(2000);
    expect(bridges.map(rolesOf)).toEqual([
      [
        [designated, designated],
        [root, designated],
        [designated, root],
      ],
      [
        [designated, root],
        [designated, designated],
        [root, discarding],
      ],
      [
        [root, discarding],
        [discarding, root],
        [designated, designated],
      ],
    ]);
    cut.add(0);
    run(12_000);
    // The way from the first bridge to the second one leads over the third in every tree.
    expect(bridges[0]?.trees.map(({ ports }) => ports[1]?.role)).toEqual(['designated', 'root', 'root']);
    expect(bridges[2]?.trees.map(({ ports }) => ports[1]?.role)).toEqual(['designated', 'root', 'designated']);
    expect(bridges.map(({ trees }) => trees.map(({ isRoot }) => isRoot))).toEqual([
      [true, false, false],
      [false, true, false],
      [false, false, true],
    ]);
  });

  it('of two regions see each other as one bridge, and all trees leave through one port', () => {
    // Bridges 0 and 1 are region a, 2 and 3 region b, two links between them.
    const wires: readonly Wire[] = [
      [0, 0, 1, 0],
      [2, 0, 3, 0],
      [0, 1, 2, 1],
      [1, 1, 3, 1],
    ];
    const [a, b] = [regionOf('a', [instance(1)]), regionOf('b', [instance(1)])];
    const { bridges, run } = createNetwork(4, wires, [a, a, { ...b, priority: 36_864 }, b]);
    run(3000);
    // The fourth bridge is the better one of its region, but only the cost outside counts: both have the same.
    expect(bridges.map(({ trees: [shared] }) => shared.root.cost)).toEqual([0, 0, 2000, 2000]);
    expect(new Set(bridges.slice(2).map(({ trees: [shared] }) => shared.root.regionalRoot)).size).toBe(1);
    expect(rolesOf(bridges[3] as SpanningTree)).toEqual([
      [designated, root],
      [root, 'master forwarding'],
    ]);
    expect(rolesOf(bridges[2] as SpanningTree)).toEqual([
      [root, discarding],
      [designated, discarding],
    ]);
  });

  it('agree with bridges of RSTP and STP on the tree that all share', () => {
    const more = [regionOf('a', [instance(1)]), {}, { isRapid: false, priority: 4096 }];
    const { bridges, run } = createNetwork(3, triangle, more);
    run(40_000);
    expect(rolesOf(bridges[0] as SpanningTree)).toEqual([
      [designated, root],
      [designated, 'master forwarding'],
    ]);
    expect(bridges[0]?.ports.map(({ isRapid }) => isRapid)).toEqual([true, false]);
    expect(bridges[2]?.isRoot).toBe(true);
  });

  it('stand mutated messages', () => {
    const own = regionOf('a', [instance(1), instance(2)]);
    const { bridges, run, frames } = createNetwork(3, triangle, [own, own, own]);
    run(1000);
    const sent = frames.slice();
    fc.assert(
      fc.property(fc.nat(sent.length - 1), fc.nat(160), fc.nat(255), fc.nat(600), (index, at, value, length) => {
        const frame = sent[index] as Uint8Array;
        const bytes = copyOf(frame, 0, length % 4 === 0 ? Math.min(length, frame.length) : frame.length);
        if (at < bytes.length) bytes[at] = value;
        for (const bridge of bridges) bridge.receive(at % 2, new Memory(bytes), 0, bytes.length);
      }),
      { numRuns: mutationRuns(3000) },
    );
    run(60_000);
    expect(bridges.map(({ trees }) => trees.map(({ isRoot }) => isRoot))).toEqual([
      [true, true, true],
      [false, false, false],
      [false, false, false],
    ]);
  });
});
