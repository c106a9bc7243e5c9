import { describe, expect, it } from 'vitest';
import { PcapError } from '../pcap-error.ts';
import { captureOfFrames, chunksOf, text } from '../testing/build-capture.ts';
import { CaptureWriter } from '../write/capture-writer.ts';
import { CaptureReader, packetsOf } from './capture-reader.ts';
import type { Packet } from './packet.ts';

interface Seen {
  time: [number, number];
  data: string;
  wire: number;
  link: number;
}

function read(capture: Uint8Array, chunkSize = capture.length): { seen: Seen[]; reader: CaptureReader } {
  const seen: Seen[] = [];
  const reader = new CaptureReader((packet) => {
    seen.push(seenOf(packet));
    return true;
  });
  for (const chunk of chunksOf(capture, Math.max(1, chunkSize))) reader.push(chunk);
  reader.end();
  return { seen, reader };
}

function seenOf(packet: Packet): Seen {
  const data = Buffer.from(packet.bytes.subarray(packet.start, packet.start + packet.length)).toString('latin1');
  return { time: [packet.seconds, packet.nanoseconds], data, wire: packet.wireLength, link: packet.linkType };
}

function words(isLittleEndian: boolean, values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 4));
  for (const [index, value] of values.entries()) view.setUint32(index * 4, value, isLittleEndian);
  return new Uint8Array(view.buffer);
}

function block(isLittleEndian: boolean, type: number, body: readonly number[], data = ''): Uint8Array {
  const padded = data.padEnd(Math.ceil(data.length / 4) * 4, '\0');
  const length = 12 + body.length * 4 + padded.length;
  return Buffer.concat([words(isLittleEndian, [type, length, ...body]), text(padded), words(isLittleEndian, [length])]);
}

/** Two 16-bit halves as they lie in the file. */
function halves(isLittleEndian: boolean, first: number, second: number): number {
  return isLittleEndian ? (second << 16) | first : (first << 16) | second;
}

function section(isLittleEndian: boolean): Uint8Array {
  return block(isLittleEndian, 0x0a0d0d0a, [0x1a2b3c4d, halves(isLittleEndian, 1, 0), 0xffffffff, 0xffffffff]);
}

function anInterface(isLittleEndian: boolean, link: number, options: readonly number[] = [], snapLen = 0): Uint8Array {
  return block(isLittleEndian, 1, [halves(isLittleEndian, link, 0), snapLen, ...options]);
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof PcapError) return error.code;
    throw error;
  }
  return 'none';
}

describe.each([true, false])('a classic capture, little endian: %s', (isLittleEndian) => {
  it.each([
    [0xa1b2c3d4, 'pcap', 123_456_000],
    [0xa1b23c4d, 'pcap-ns', 123_456],
  ] as const)('with magic %i is read as %s', (magic, format, nanoseconds) => {
    const header = words(isLittleEndian, [magic, halves(isLittleEndian, 2, 4), 0, 0, 96, 101]);
    const record = Buffer.concat([words(isLittleEndian, [1_700_000_000, 123_456, 5, 60]), text('hello')]);
    const { seen, reader } = read(Buffer.concat([header, record, record]));
    expect(reader.format).toBe(format);
    expect(reader.snapLen).toBe(96);
    expect(reader.cutFile).toBe(false);
    const expected = { time: [1_700_000_000, nanoseconds], data: 'hello', wire: 60, link: 101 };
    expect(seen).toEqual([expected, expected]);
  });
});

describe.each([true, false])('a pcapng capture, little endian: %s', (le) => {
  const microseconds = [0x0005f5e1, 0x00000000];

  it('is read through enhanced, simple and obsolete packets, past unknown blocks', () => {
    const { seen, reader } = read(
      Buffer.concat([
        section(le),
        anInterface(le, 1),
        block(le, 0x0bad, [1, 2, 3], 'whatever'),
        block(le, 6, [0, ...microseconds, 3, 70], 'abc'),
        block(le, 3, [4], 'defg'),
        block(le, 2, [halves(le, 0, 9), ...microseconds, 2, 2], 'hi'),
      ]),
    );
    const ticks = (0x0005f5e1n << 32n) | 0n;
    const time = [Number(ticks / 1_000_000n), Number((ticks % 1_000_000n) * 1000n)];
    expect(reader.format).toBe('pcapng');
    expect(seen).toEqual([
      { time, data: 'abc', wire: 70, link: 1 },
      { time, data: 'defg', wire: 4, link: 1 },
      { time, data: 'hi', wire: 2, link: 1 },
    ]);
  });

  it('obeys the time resolution and offset of each interface', () => {
    const resolution = (value: number) => [halves(le, 9, 1), le ? value : value << 24];
    const offset = [halves(le, 14, 8), ...(le ? [100, 0] : [0, 100]), 0];
    const { seen } = read(
      Buffer.concat([
        section(le),
        anInterface(le, 1, [...resolution(9), 0]),
        anInterface(le, 101, [...resolution(0x8a), ...offset]),
        block(le, 6, [0, 0x17979cfe, 0x362a0001, 1, 1], 'a'),
        block(le, 6, [1, 0, 1024 * 7 + 512, 1, 1], 'b'),
      ]),
    );
    const ticks = (0x17979cfen << 32n) | 0x362a0001n;
    expect(seen.map((packet) => packet.time)).toEqual([
      [Number(ticks / 1_000_000_000n), Number(ticks % 1_000_000_000n)],
      [107, 500_000_000],
    ]);
    expect(seen.map((packet) => packet.link)).toEqual([1, 101]);
  });

  it('starts over with each section, whatever its byte order', () => {
    const { seen } = read(
      Buffer.concat([
        section(le),
        anInterface(le, 1),
        block(le, 6, [0, 0, 5, 1, 1], 'a'),
        section(!le),
        anInterface(!le, 228),
        block(!le, 6, [0, 0, 6, 1, 1], 'b'),
      ]),
    );
    expect(seen.map((packet) => [packet.data, packet.link])).toEqual([
      ['a', 1],
      ['b', 228],
    ]);
  });

  it('is refused when a packet claims more than its block holds', () => {
    const capture = Buffer.concat([
      section(le),
      anInterface(le, 1),
      block(le, 6, [0, 0, 0, 9, 9], 'only8...'),
      section(le),
    ]);
    expect(codeOf(() => read(capture))).toBe('CORRUPT_CAPTURE');
  });

  it('is refused when a packet refers to an undeclared interface', () => {
    const capture = Buffer.concat([section(le), anInterface(le, 1), block(le, 6, [1, 0, 0, 1, 1], 'a')]);
    expect(codeOf(() => read(capture))).toBe('CORRUPT_CAPTURE');
  });
});

describe('chunk borders', () => {
  it.each(['pcap', 'pcap-ns', 'pcapng'] as const)('do not matter for %s', (format) => {
    const frames = [1, 60, 1500, 9000, 3].map((length) => new Uint8Array(length).fill(length & 255));
    const capture = captureOfFrames(frames, { format });
    const whole = read(capture).seen;
    expect(whole.map((packet) => packet.data.length)).toEqual([1, 60, 1500, 9000, 3]);
    for (const size of [1, 7, 64, 1000]) expect(read(capture, size).seen).toEqual(whole);
  });

  it('let unknown blocks larger than memory pass by', () => {
    const length = 200_000_000;
    const opening = Buffer.concat([section(true), anInterface(true, 1), words(true, [0x0bad, length])]);
    const seen: Seen[] = [];
    const reader = new CaptureReader((packet) => {
      seen.push(seenOf(packet));
      return true;
    });
    reader.push(opening);
    const filler = new Uint8Array(1_000_000);
    for (let left = length - 8; left > 0; left -= filler.length)
      reader.push(filler.subarray(0, Math.min(left, filler.length)));
    reader.push(block(true, 6, [0, 0, 0, 1, 1], 'z'));
    reader.end();
    expect(seen.map((packet) => packet.data)).toEqual(['z']);
    expect(reader.cutFile).toBe(false);
  });
});

describe('a damaged file', () => {
  const capture = captureOfFrames([new Uint8Array(60), new Uint8Array(60)]);

  it('that ends early gives what was readable', () => {
    for (const length of [24 + 16 + 60 + 3, capture.length - 1]) {
      const { seen, reader } = read(capture.subarray(0, length));
      expect(seen).toHaveLength(1);
      expect(reader.cutFile).toBe(true);
    }
    expect(read(capture.subarray(0, 10)).reader.cutFile).toBe(true);
    expect(read(capture.subarray(0, 24)).reader.cutFile).toBe(false);
  });

  it('that is no capture is refused', () => {
    expect(codeOf(() => read(text('GIF89a, surely no capture')))).toBe('NOT_A_PCAP');
    expect(codeOf(() => read(new Uint8Array(0)))).toBe('NOT_A_PCAP');
    expect(codeOf(() => read(Uint8Array.of(0xd4, 0xc3)))).toBe('NOT_A_PCAP');
  });

  it('with an impossible length is refused before anything is allocated', () => {
    const record = words(true, [0, 0, 0x7fffffff, 60]);
    expect(codeOf(() => read(Buffer.concat([capture, record])))).toBe('CORRUPT_CAPTURE');
    expect(codeOf(() => read(Buffer.concat([section(true), words(true, [6, 8, 0])])))).toBe('CORRUPT_CAPTURE');
    expect(codeOf(() => read(Buffer.concat([section(true), words(true, [6, 0xfffffff0, 0])])))).toBe('CORRUPT_CAPTURE');
  });
});

describe('packetsOf', () => {
  it('gives packets that stay valid', async () => {
    const writer = new CaptureWriter({ format: 'pcapng', linkType: 1 });
    for (const byte of [1, 2, 3])
      writer.add({ seconds: byte, nanoseconds: byte, bytes: new Uint8Array(40).fill(byte) });
    const kept: Packet[] = [];
    for await (const packet of packetsOf(chunksOf(writer.take(), 50))) kept.push(packet);
    expect(kept.map((packet) => [packet.number, packet.seconds, packet.nanoseconds, packet.bytes[39]])).toEqual([
      [1, 1, 1, 1],
      [2, 2, 2, 2],
      [3, 3, 3, 3],
    ]);
  });
});
