import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { checksumOf, sumBytes } from '../../bytes/checksum.ts';
import { bytesOfHex, copyOf, hexOfBytes, Memory } from '../../bytes/memory.ts';
import { parseAddress } from '../../ip/address.ts';
import { createRandom } from '../../testing/random.ts';
import { keyFor, SimulatedWire } from '../../testing/simulated-wire.ts';
import { Recorder, randomBytes, startTransfer, testSettings } from '../../testing/transfer.ts';
import { pseudoSumOf } from './flow-key.ts';
import { Segment, tcpFlag } from './segment.ts';
import { segmentDigest, signSegment } from './signature.ts';

const secret = new TextEncoder().encode('bgp-secret');
const second = 1_000_000;
const { syn, ack, rst } = tcpFlag;

const keyOf = (local: string, remote: string, ports: number): Int32Array =>
  Int32Array.from([...parseAddress(local), ...parseAddress(remote), ports]);

const md5Of = (...parts: readonly string[]): string =>
  createHash('md5')
    .update(bytesOfHex(parts.join('')))
    .digest('hex');

describe('a signature', () => {
  // Port 179 to 32768, seq 1, ack 2, PSH ACK, checksum beef; 20 bytes of options; data 0102030405.
  const header = (checksum: string) => `00b38000 00000001 00000002 a0181000 ${checksum}0000`;
  const options = '01011312'.concat('00'.repeat(16));
  const data = '0102030405';

  it('covers pseudo-header, header without options and checksum, data and key, as RFC 2385 defines it', () => {
    const bytes = bytesOfHex(header('beef') + options + data);
    const key = hexOfBytes(secret);
    const flow = { keys: keyOf('192.0.2.1', '198.51.100.7', 0), at: 0, secret };
    const range = { start: 0, end: bytes.length };
    const digest = segmentDigest(new Memory(bytes), { ...range, isOurs: true }, flow);
    // Length 45: options count for the length, but are not covered.
    expect(hexOfBytes(digest)).toBe(md5Of('c0000201 c6336407 0006 002d', header('0000'), data, key));
    const received = segmentDigest(new Memory(bytes), { ...range, isOurs: false }, flow);
    expect(hexOfBytes(received)).toBe(md5Of('c6336407 c0000201 0006 002d', header('0000'), data, key));
  });

  it('covers the pseudo-header of IPv6', () => {
    const bytes = bytesOfHex(header('0000') + options);
    const flow = { keys: keyOf('2001:db8::1', '2001:db8::2', 0), at: 0, secret };
    signSegment(new Memory(bytes), 0, bytes.length, flow);
    const addresses = '20010db8000000000000000000000001 20010db8000000000000000000000002';
    const digest = md5Of(addresses, '00000028 00000006', header('0000'), hexOfBytes(secret));
    expect(hexOfBytes(bytes)).toBe(`${header('0000').replaceAll(' ', '')}01011312${digest}`);
  });
});

/** Every segment that enters the wire, read. */
const watch = (wire: SimulatedWire): { from: number; bytes: Uint8Array; segment: Segment }[] => {
  const seen: { from: number; bytes: Uint8Array; segment: Segment }[] = [];
  wire.filter = (from, bytes) => {
    const segment = new Segment();
    segment.parse(new Memory(bytes), 0, bytes.length);
    seen.push({ from, bytes, segment });
    return true;
  };
  return seen;
};

const signBoth = (wire: SimulatedWire, left: Uint8Array | undefined, right: Uint8Array | undefined): void => {
  const [one, other] = wire.stacks;
  one.signatureKeyOf = () => left;
  other.signatureKeyOf = () => right;
};

describe('a signed connection', () => {
  it('signs every segment, from SYN to the last acknowledgement, and has no timestamps', () => {
    const random = createRandom(3);
    const wire = new SimulatedWire({ random });
    const seen = watch(wire);
    signBoth(wire, secret, secret);
    const ends = startTransfer(wire, { up: randomBytes(random, 90_000), down: randomBytes(random, 20_000) });
    wire.run(60 * second, () => ends.client.isClosed && ends.server.isClosed);
    expect([ends.client.received, ends.server.received, ends.client.isDifferent, ends.server.isDifferent]).toEqual([
      20_000,
      90_000,
      false,
      false,
    ]);
    expect(seen.length).toBeGreaterThan(70);
    for (const { bytes, segment } of seen) {
      expect(segment).toMatchObject({ signatureAt: 24, hasTimestamps: false });
      expect(bytes.length).toBeLessThanOrEqual(1480);
    }
    for (const { counters } of wire.stacks)
      expect(counters).toMatchObject({ badSignatures: 0, missingSignatures: 0, badSegments: 0 });
  });

  it('survives loss with the SACK blocks that find room', () => {
    const random = createRandom(11);
    const wire = new SimulatedWire({ random, lossRate: 0.05, jitterUs: 2000, duplicateRate: 0.02 });
    const seen = watch(wire);
    signBoth(wire, secret, secret);
    const ends = startTransfer(wire, { up: randomBytes(random, 300_000), down: randomBytes(random, 1000) });
    wire.run(600 * second, () => ends.client.isClosed && ends.server.isClosed);
    expect([ends.server.received, ends.server.isDifferent]).toEqual([300_000, false]);
    expect(Math.max(...seen.map(({ segment }) => segment.sackCount))).toBe(2);
    expect(wire.stacks[0].counters.badSegments + wire.stacks[1].counters.badSegments).toBe(0);
  });

  it.each([
    ['another key', new TextEncoder().encode('other'), 'badSignatures'],
    ['no key', undefined, 'missingSignatures'],
  ] as const)('is not accepted from a peer with %s, which gets no answer', (_, other, counter) => {
    const wire = new SimulatedWire({ random: createRandom(1) });
    const seen = watch(wire);
    signBoth(wire, other, secret);
    const ends = startTransfer(wire, { up: new Uint8Array(10), down: new Uint8Array(10), client: { synRetries: 2 } });
    wire.run(60 * second, () => ends.client.isClosed);
    expect(ends.client.cause).toBe('ETIMEDOUT');
    expect(seen.every(({ from }) => from === 0)).toBe(true);
    expect(wire.stacks[1].counters[counter]).toBe(3);
    expect(wire.stacks[1].connectionCount).toBe(0);
  });

  it('is not touched by segments without its signature', () => {
    const wire = new SimulatedWire({ random: createRandom(9) });
    const seen = watch(wire);
    signBoth(wire, secret, secret);
    const [left] = wire.stacks;
    const ends = startTransfer(wire, { up: new Uint8Array(10), down: new Uint8Array(10) });
    ends.client.closesWhenSent = false;
    ends.server.closesWhenSent = false;
    wire.run(second, () => ends.client.received === 10);
    const last = seen.findLast(({ from }) => from === 1);
    const { keys, at } = left.keyOf([...left.connections()][0] as never);
    const flow = keys.slice(at, at + 9);
    const forge = (length: number, change: (memory: Memory) => void) => {
      const memory = new Memory(copyOf(last?.bytes as Uint8Array, 0, length));
      change(memory);
      memory.view.setUint16(16, 0);
      memory.view.setUint16(16, checksumOf(pseudoSumOf(flow) + length + sumBytes(memory, 0, length)));
      wire.inject(0, memory.bytes, flow.slice(0, 8));
    };
    const head = last?.segment.dataStart as number;
    forge(head, ({ bytes }) => (bytes[13] = rst));
    forge(20, ({ view }) => view.setUint16(12, (20 << 10) | rst));
    expect([left.counters.badSignatures, left.counters.missingSignatures]).toEqual([1, 1]);
    expect([left.counters.resetsReceived, ends.client.isClosed]).toEqual([0, false]);
  });

  it('stays signed in TIME-WAIT, behind cookies and in answers to closed ports', () => {
    const wire = new SimulatedWire({ random: createRandom(4) });
    const seen = watch(wire);
    signBoth(wire, secret, secret);
    const [left, right] = wire.stacks;
    const recorder = new Recorder(left, new Uint8Array(5));
    const accepted = new Recorder(right, new Uint8Array(5));
    right.listen(80, {
      settings: testSettings(),
      backlog: 0,
      accept: (c) => {
        accepted.begin(c);
        return accepted;
      },
    });
    left.connect(keyFor(0, 80), { settings: testSettings(), events: recorder, path: 0 });
    // The first acknowledgement after both FINs is lost: a FIN comes again and is answered from TIME-WAIT.
    let isLost = false;
    const finished = new Set<number>();
    const { filter } = wire;
    wire.filter = (from, bytes) => {
      filter(from, bytes);
      const hasFin = ((bytes[13] as number) & tcpFlag.fin) !== 0;
      if (hasFin) finished.add(from);
      if (hasFin || isLost || finished.size < 2) return true;
      isLost = true;
      return false;
    };
    wire.run(30 * second, () => recorder.isClosed && accepted.isClosed);
    expect([right.counters.cookiesAccepted, accepted.received, recorder.received]).toEqual([1, 5, 5]);
    expect([recorder.cause, accepted.cause, isLost]).toEqual([undefined, undefined, true]);
    left.connect(keyFor(0, 81), { settings: testSettings(), events: new Recorder(left, new Uint8Array(0)), path: 0 });
    wire.run(second);
    expect(seen.at(-1)?.segment.flags).toBe(rst | ack);
    expect(seen.filter(({ segment }) => segment.flags === syn)).toHaveLength(2);
    expect(seen.every(({ segment }) => segment.signatureAt === 24)).toBe(true);
    for (const { counters } of wire.stacks) expect(counters).toMatchObject({ badSignatures: 0, missingSignatures: 0 });
  });

  it('refuses 20,000 changed segments', () => {
    const random = createRandom(8);
    const wire = new SimulatedWire({ random });
    const seen = watch(wire);
    signBoth(wire, secret, secret);
    const [left] = wire.stacks;
    const ends = startTransfer(wire, { up: new Uint8Array(3000), down: new Uint8Array(3000) });
    ends.client.closesWhenSent = false;
    ends.server.closesWhenSent = false;
    wire.run(second, () => ends.client.received === 3000);
    const flow = keyFor(0, 80);
    flow.set(left.keyOf([...left.connections()][0] as never).keys.subarray(0, 9));
    const seeds = seen.filter(({ from }) => from === 1).map(({ bytes }) => bytes);
    const before = { ...left.counters };
    for (let i = 0; i < 20_000; i++) {
      const memory = new Memory(copyOf(seeds[i % seeds.length] as Uint8Array));
      // Not the ports and not the options, which are not covered.
      const at = Math.floor(random() * 16);
      memory.bytes[at < 12 ? 4 + at : 24 + at] = (memory.bytes[at < 12 ? 4 + at : 24 + at] as number) ^ (1 + (i % 255));
      memory.view.setUint16(16, 0);
      const { length } = memory.bytes;
      memory.view.setUint16(16, checksumOf(pseudoSumOf(flow) + length + sumBytes(memory, 0, length)));
      wire.inject(0, memory.bytes, flow.slice(0, 8));
    }
    const { counters } = left;
    const refused = ['badSignatures', 'missingSignatures', 'badSegments'] as const;
    expect(refused.reduce((sum, name) => sum + counters[name] - before[name], 0)).toBe(20_000);
    expect([ends.client.isClosed, ends.client.received]).toEqual([false, 3000]);
  });
});
