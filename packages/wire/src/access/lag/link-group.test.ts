import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfHex, createMemory, hexOfBytes, Memory } from '../../bytes/memory.ts';
import type { FrameSink } from '../../host-group/hosts.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import type { LacpOptions } from './lacp-member.ts';
import { readLacp, writeLacp } from './lacp-message.ts';
import { LinkChoice } from './link-choice.ts';
import { LinkGroup, type LinkGroupOptions } from './link-group.ts';

const macOf = (side: number, index: number) => Uint8Array.of(2, side, 0, 0, 0, index + 1);
const optionsOf = (side: number, lacp: Partial<LacpOptions>, more: Partial<LinkGroupOptions>): LinkGroupOptions => ({
  ...{ minActiveLinks: 1, maxActiveLinks: 255, hash: 'layer3+4' },
  lacp: {
    ...{ mode: 'active', isShortTimeout: true, systemPriority: 32_768, system: macOf(side, 0) },
    ...{ portPriority: 32_768, key: side + 1 },
    ...lacp,
  },
  ...more,
});

/** Two groups whose members are joined by wires that can be cut. */
const createPair = (
  lacp: readonly [Partial<LacpOptions>, Partial<LacpOptions>] = [{}, {}],
  more: Partial<LinkGroupOptions> = {},
  count = 3,
) => {
  const queue: { to: number; index: number; frame: Uint8Array }[] = [];
  const isCut = Array.from({ length: count }, () => false);
  const received: [number, number][] = [];
  const groups = lacp.map((own, side) => {
    const links = Array.from({ length: count }, (_, index) => {
      const memory = createMemory(4096);
      const commit = (at: number, length: number) =>
        queue.push({ to: 1 - side, index, frame: memory.bytes.slice(at, at + length) });
      const sink: FrameSink = { memory, mtu: 1500, begin: () => 16, commit };
      return { sink, mac: macOf(side, index) };
    });
    return new LinkGroup(links, optionsOf(side, own, more));
  }) as [LinkGroup, LinkGroup];
  for (const group of groups) for (let index = 0; index < count; index++) group.setLink(index, true);
  let nowMs = 0;
  const frames: Uint8Array[] = [];
  const run = (ms: number) => {
    for (const end = nowMs + ms; nowMs < end; ) {
      nowMs += 10;
      for (const group of groups) group.advance(nowMs);
      for (const { to, index, frame } of queue.splice(0)) {
        frames.push(frame);
        if (isCut[index]) continue;
        if (groups[to]?.receive(index, new Memory(frame), 0, frame.length)) received.push([to, index]);
      }
    }
  };
  const send = (side: 0 | 1, frame: Uint8Array) => {
    const at = groups[side].begin(frame.length, 0);
    groups[side].memory.bytes.set(frame, at);
    groups[side].commit(at, frame.length);
  };
  return { groups, run, isCut, received, send, frames };
};

/** A UDP packet between two ports. */
const packet = (sourcePort: number) => {
  const frame = bytesOfHex(
    '020100000001 020000000001 0800 4500002400000000401100000a0000010a000002 0000003500100000 0000000000000000',
  );
  new DataView(frame.buffer).setUint16(34, sourcePort);
  return frame;
};

it('messages of LACP are written and read back', () => {
  const written = bytesOfHex(
    `0101 0114 8000 020000000001 0001 8000 0001 3f 000000
     0214 8000 020100000001 0002 8000 0001 3f 000000
     0310 0000 000000000000000000000000 0000 ${'00'.repeat(50)}`,
  );
  const message = readLacp(new Memory(written), 0, written.length);
  expect(message).toMatchObject({
    actor: { key: 1, port: 1, state: 0x3f },
    partner: { key: 2, systemPriority: 32_768 },
  });
  const memory = createMemory(200);
  const end = writeLacp(memory, 7, message as NonNullable<typeof message>);
  expect(hexOfBytes(memory.bytes, 7, end)).toBe(hexOfBytes(written));
});

describe('groups of links', () => {
  it.each([
    ['active', 'active'],
    ['active', 'passive'],
    ['passive', 'active'],
    ['static', 'static'],
  ] as const)('come up between %s and %s', (mode, other) => {
    const { groups, run, frames } = createPair([{ mode }, { mode: other }]);
    run(5000);
    for (const group of groups) expect([group.isUp, group.active]).toEqual([true, [0, 1, 2]]);
    expect(frames.length > 0).toBe(mode !== 'static');
    // Once agreed, each end speaks once a second.
    const before = frames.length;
    run(10_000);
    expect(frames.length - before).toBeLessThanOrEqual(mode === 'static' ? 0 : 66);
  });

  it('stay down between two passive ends, and without LACP at one of them', () => {
    for (const [mode, other] of [
      ['passive', 'passive'],
      ['active', 'static'],
    ] as const) {
      const { groups, run } = createPair([{ mode }, { mode: other }]);
      run(10_000);
      expect([groups[0].isUp, groups[0].active]).toEqual([false, []]);
    }
  });

  it('lose a member whose wire is cut within three periods, and take it back', () => {
    const { groups, run, isCut } = createPair();
    run(5000);
    isCut[1] = true;
    run(4000);
    for (const group of groups) expect(group.active).toEqual([0, 2]);
    expect(groups[0].members[1]?.counters.timeouts).toBe(1);
    isCut[1] = false;
    run(5000);
    for (const group of groups) expect(group.active).toEqual([0, 1, 2]);
    groups[0].setLink(2, false);
    run(4000);
    for (const group of groups) expect(group.active).toEqual([0, 1]);
  });

  it('are down with fewer links than they must have, and keep links in reserve', () => {
    const states: boolean[] = [];
    const { groups, run, isCut } = createPair([{}, {}], { minActiveLinks: 2, maxActiveLinks: 2 });
    groups[0].onLink = (isUp) => states.push(isUp);
    run(5000);
    expect(groups[0].active).toEqual([0, 1]);
    isCut[0] = true;
    run(8000);
    expect(groups[0].active).toEqual([1, 2]);
    isCut[2] = true;
    run(8000);
    expect([groups[0].isUp, states.at(-1)]).toEqual([false, false]);
  });

  it('send packets of one flow through one link, and flows through all of them', () => {
    const { run, received, send } = createPair();
    run(5000);
    for (let i = 0; i < 10; i++) send(0, packet(4000));
    run(10);
    expect(new Set(received.map(([, index]) => index)).size).toBe(1);
    for (let port = 0; port < 300; port++) send(0, packet(port));
    run(10);
    for (const link of [0, 1, 2]) expect(received.filter(([, index]) => index === link).length).toBeGreaterThan(60);
  });

  it('choose links by what the profile names', () => {
    const frames = Array.from({ length: 60 }, (_, i) => new Memory(packet(i)));
    const linksOf = (kind: ConstructorParameters<typeof LinkChoice>[0]) => {
      const choice = new LinkChoice(kind);
      return new Set(frames.map((frame) => choice.linkOf(frame, 0, frame.bytes.length, 3))).size;
    };
    expect([linksOf('layer2'), linksOf('layer2+3'), linksOf('layer3+4'), linksOf('round-robin')]).toEqual([1, 1, 3, 3]);
  });
});

it('mutated packets of LACP break no group', () => {
  const { groups, run, frames } = createPair();
  run(5000);
  const known = [...frames, packet(1)];
  const choice = new LinkChoice('layer3+4');
  const change = fc.tuple(fc.nat(124), fc.nat(255));
  fc.assert(
    fc.property(
      fc.nat(known.length - 1),
      fc.array(change, { minLength: 1, maxLength: 6 }),
      fc.nat(130),
      (index, changes, length) => {
        const frame = (known[index] as Uint8Array).slice(0, length);
        for (const [at, value] of changes) if (at < frame.length) frame[at] = value;
        groups[index & 1]?.receive(index % 3, new Memory(frame), 0, frame.length);
        choice.linkOf(new Memory(frame), 0, frame.length, 3);
      },
    ),
    { numRuns: mutationRuns(3000) },
  );
  run(10_000);
  for (const group of groups) expect(group.active).toEqual([0, 1, 2]);
});
