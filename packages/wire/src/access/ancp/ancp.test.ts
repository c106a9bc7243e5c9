import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hexOfBytes } from '../../bytes/memory.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import {
  type Adjacency,
  AncpStream,
  adjacencyCode,
  ancpTechnology,
  type LineReport,
  readAncp,
  writeAdjacency,
  writeLineReport,
} from './message.ts';
import { AncpPeer, type AncpPeerOptions } from './peer.ts';

const text = (value: string) => new TextEncoder().encode(value);
const line: LineReport = {
  ...{ isUp: true, circuitId: text('olt 1'), remoteId: text('home') },
  ...{ upstreamKbps: 40_000, downstreamKbps: 100_000, technology: ancpTechnology.dsl, dslType: 5 },
};
const endOf = (last: number, instance = last) => ({ name: Uint8Array.of(2, 0, 0, 0, 0, last), port: 0, instance });
const adjacency: Adjacency = {
  ...{ code: adjacencyCode.syn, isMaster: true, timerMs: 25_000, capabilities: [1] },
  ...{ sender: endOf(1), receiver: { name: new Uint8Array(6), port: 0, instance: 0 } },
};

describe('messages of ANCP', () => {
  it('about lines are written as RFC 6320 says, and read back', () => {
    const bytes = writeLineReport(line);
    expect(hexOfBytes(bytes)).toBe(
      [
        '880c0060325000000000000080010060',
        '0000000000000000000000000000000000000000',
        '00500500',
        '00030038',
        '000100056f6c742031000000',
        '00020004686f6d65',
        '00040020',
        '00910004000000050081000400009c4000820004000186a0008f000400000001',
      ].join(''),
    );
    expect(readAncp(bytes.subarray(4))).toEqual({ line });
    const down = { ...line, isUp: false };
    expect(readAncp(writeLineReport(down).subarray(4))).toEqual({
      line: { ...down, upstreamKbps: 0, downstreamKbps: 0 },
    });
  });

  it('about the adjacency are written and read back', () => {
    const bytes = writeAdjacency(adjacency);
    expect(hexOfBytes(bytes)).toBe(
      `880c0028320afa81020000000001${'00'.repeat(14)}0100000100000000000100040001${'0000'}`,
    );
    expect(readAncp(bytes.subarray(4))).toEqual({ adjacency });
  });

  it('are taken from a stream in any parts', () => {
    const all = [writeAdjacency(adjacency), writeLineReport(line)];
    const whole = Uint8Array.from(all.flatMap((bytes) => [...bytes]));
    for (const size of [1, 7, 50, 1000]) {
      const stream = new AncpStream();
      const found: Uint8Array[] = [];
      for (let at = 0; at < whole.length; at += size) found.push(...(stream.push(whole.slice(at, at + size)) ?? []));
      expect(found.map((bytes) => hexOfBytes(bytes))).toEqual(all.map((bytes) => hexOfBytes(bytes, 4)));
    }
    expect(new AncpStream().push(text('GET / HTTP/1.1'))).toBeUndefined();
  });
});

/** Two ends on a connection. */
const createPair = (more: Partial<AncpPeerOptions> = {}) => {
  const log: string[] = [];
  const queue: { to: 0 | 1; bytes: Uint8Array }[] = [];
  const lines: LineReport[] = [];
  const peerOf = (end: 0 | 1) =>
    new AncpPeer({
      ...{ name: Uint8Array.of(2, 0, 0, 0, 0, end), port: 0, isMaster: end === 1, timerMs: 1000, instance: end + 5 },
      send: (bytes) => queue.push({ to: end === 0 ? 1 : 0, bytes }),
      onBroken: (reason) => log.push(`${end} ${reason}`),
      onUp: () => log.push(`${end} up`),
      onLine: (report) => lines.push(report),
      ...(end === 0 ? more : {}),
    });
  const peers = [peerOf(0), peerOf(1)] as const;
  const deliver = () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) peers[next.to].receive(next.bytes);
  };
  return { peers, log, lines, queue, deliver };
};

describe('an adjacency of ANCP', () => {
  it('comes up, carries reports and is kept', () => {
    const { peers, log, lines, queue, deliver } = createPair();
    for (const peer of peers) peer.begin(0);
    deliver();
    expect(peers.map(({ isReady }) => isReady)).toEqual([true, true]);
    expect(log.toSorted()).toEqual(['0 up', '1 up']);
    peers[0].report(line);
    deliver();
    expect(lines).toEqual([line]);
    for (let nowMs = 100; nowMs <= 20_000; nowMs += 100) {
      for (const peer of peers) peer.advance(nowMs);
      deliver();
    }
    expect(peers.map(({ state }) => state)).toEqual(['up', 'up']);
    // One message a period from each end, after those of the start.
    expect(peers[1].counters.sent).toBeLessThan(26);
    for (let nowMs = 20_100; nowMs <= 24_000; nowMs += 100) {
      peers[0].advance(nowMs);
      queue.length = 0;
    }
    expect(log.at(-1)).toBe('0 no message of the other end');
    expect(peers[0].counters.timeouts).toBe(1);
  });

  it('does not come up between two access nodes, nor with what is not ANCP', () => {
    const { peers, log, deliver } = createPair({ isMaster: true });
    for (const peer of peers) peer.begin(0);
    deliver();
    expect(log).toContain('1 the other end has the same part');
    const other = createPair();
    other.peers[0].begin(0);
    other.peers[0].receive(text('SSH-2.0-x'));
    expect(other.log).toEqual(['0 no stream of ANCP']);
  });

  it.each([
    ['is silent', () => {}, 'no message of the other end'],
    [
      'begins again and again',
      (other: AncpPeer) => other.receive(writeAdjacency({ ...adjacency, timerMs: 1000 })),
      'the other end does not complete the adjacency',
    ],
    [
      'answers another process',
      (other: AncpPeer) =>
        other.receive(writeAdjacency({ ...adjacency, code: adjacencyCode.synAck, receiver: endOf(9) })),
      'no message of the other end',
    ],
    [
      'cuts its messages off',
      (other: AncpPeer) => other.receive(writeAdjacency(adjacency).subarray(0, 12)),
      'no stream of ANCP',
    ],
  ])('ends when the other end %s', (_, act, reason) => {
    const { peers, log } = createPair();
    const [own] = peers;
    own.begin(0);
    for (let nowMs = 100; nowMs <= 20_000 && log.length === 0; nowMs += 100) {
      own.advance(nowMs);
      if (nowMs % 500 === 0) act(own);
    }
    expect(log).toEqual([`0 ${reason}`]);
  });

  it.each([
    [
      'resets it',
      { code: adjacencyCode.reset, receiver: { name: Uint8Array.of(2, 0, 0, 0, 0, 0), port: 0, instance: 5 } },
    ],
    ['claims the same part', { isMaster: false }],
  ])('that is up ends when the other end %s', (_, change) => {
    const { peers, log, deliver } = createPair();
    for (const peer of peers) peer.begin(0);
    deliver();
    const sender = { name: Uint8Array.of(2, 0, 0, 0, 0, 1), port: 0, instance: 6 };
    peers[0].receive(writeAdjacency({ ...adjacency, sender, ...change }));
    expect(log.at(-1)).toMatch(/^0 (reset by the other end|the other end has the same part)$/);
  });

  it('stands mutated messages', () => {
    const messages = [writeLineReport(line), writeAdjacency(adjacency), writeAdjacency({ ...adjacency, code: 2 })];
    fc.assert(
      fc.property(
        fc.nat(messages.length - 1),
        fc.array(fc.tuple(fc.integer({ min: 4, max: 110 }), fc.nat(255)), { minLength: 1, maxLength: 6 }),
        fc.nat(120),
        (index, changes, length) => {
          const bytes = (messages[index] as Uint8Array).slice();
          for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
          const { peers, queue } = createPair();
          peers[0].begin(0);
          peers[0].receive(bytes);
          readAncp(bytes.subarray(4, 4 + length));
          peers[0].advance(900);
          expect(queue.length).toBeLessThan(6);
        },
      ),
      { numRuns: mutationRuns(3000) },
    );
  });
});
