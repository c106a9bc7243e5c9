import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfHex, copyOf, createMemory, hexOfBytes, Memory } from '../../bytes/memory.ts';
import type { FrameSink } from '../../host-group/hosts.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import { bpduKind, readBpdu, writeBpdu } from './bpdu.ts';
import { SpanningTree, type SpanningTreeOptions } from './spanning-tree.ts';

const optionsOf = (bridge: number, ports: number, more: Partial<SpanningTreeOptions> = {}): SpanningTreeOptions => ({
  ...{ isRapid: true, priority: 32_768, mac: Uint8Array.of(2, 0, 0, 0, 0, bridge + 1) },
  ...{ helloSec: 2, maxAgeSec: 20, forwardDelaySec: 15, txHoldCount: 6, topologyChangeMs: 0, claimRootMs: 0 },
  ports: Array.from({ length: ports }, () => ({ priority: 128, cost: 2000, isEdge: false, isPointToPoint: true })),
  ...more,
});

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
      const memory = createMemory(256);
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
  const roles = () => bridges.map(({ ports }) => ports.map(({ role, state }) => `${role} ${state}`));
  return { bridges, run, cut, roles, frames };
};

/** Three bridges in a triangle: port 0 leads to the next, port 1 to the one before. */
const triangle: readonly Wire[] = [
  [0, 0, 1, 1],
  [1, 0, 2, 1],
  [2, 0, 0, 1],
];
const [root, designated] = ['root forwarding', 'designated forwarding'];

it('messages of bridges are written and read back', () => {
  const memory = createMemory(100);
  const vector = { root: '8000020000000001', cost: 2000, bridge: '8000020000000002', port: 0x8001 };
  const times = { messageAge: 1, maxAge: 20, hello: 2, forwardDelay: 15 };
  const end = writeBpdu(memory, 0, { kind: bpduKind.rapid, flags: 0x30, role: 3, vector, times });
  expect(hexOfBytes(memory.bytes, 0, end)).toBe(
    '424203000002023c8000020000000001000007d0800002000000000280010100140002000f0000',
  );
  expect(readBpdu(memory, 0, end)).toMatchObject({ kind: 2, role: 3, vector, times });
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
