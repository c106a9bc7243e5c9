import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BlockMeter } from '../read/block-meter.ts';
import { packetsOf } from '../read/capture-reader.ts';
import type { Packet } from '../read/packet.ts';
import { LiveWriter } from './live-writer.ts';

const about = { name: 'eth0', linkType: 1, snapLen: 60 };
const counts = { received: 3, dropped: 0, from: 0, to: 1 };
const frame = (length: number, more: object = {}) => ({
  seconds: 1_700_000_000,
  nanoseconds: 123_456_789,
  bytes: Uint8Array.from({ length: length + 5 }, (_, index) => index),
  start: 5,
  end: length + 5,
  wireLength: length,
  isOutgoing: false,
  tag: -1,
  ...more,
});

const readBack = async (bytes: Uint8Array) => {
  const packets: Packet[] = [];
  for await (const packet of packetsOf(bytes)) packets.push(packet);
  return packets;
};

describe('a capture written live', () => {
  it('keeps the bytes up to the snap length and the length on the wire', async () => {
    const writer = new LiveWriter(about, 4096);
    for (const length of [1, 59, 60, 61, 400]) writer.add(frame(length));
    writer.end(counts);
    const packets = await readBack(writer.take());
    expect(packets.map(({ length, wireLength }) => [length, wireLength])).toEqual([
      [1, 1],
      [59, 59],
      [60, 60],
      [60, 61],
      [60, 400],
    ]);
    for (const { bytes, seconds, nanoseconds, linkType } of packets) {
      expect([...bytes.subarray(0, 2)].every((byte, index) => byte === index + 5)).toBe(true);
      expect({ seconds, nanoseconds, linkType }).toEqual({
        seconds: 1_700_000_000,
        nanoseconds: 123_456_789,
        linkType: 1,
      });
    }
  });

  it('restores the VLAN tag that the kernel removed', async () => {
    const writer = new LiveWriter(about, 4096);
    writer.add(frame(40, { tag: 0x8100 * 65_536 + 7 }));
    writer.add(frame(60, { tag: 0x8100 * 65_536 + 7 }));
    const [short, full] = await readBack(writer.take());
    expect([...(short?.bytes.subarray(10, 20) ?? [])]).toEqual([15, 16, 0x81, 0, 0, 7, 17, 18, 19, 20]);
    expect(short).toMatchObject({ length: 44, wireLength: 44 });
    expect(full).toMatchObject({ length: 60, wireLength: 64 });
  });

  it('keeps every nanosecond of every time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 4_294_967_295 }),
        fc.integer({ min: 0, max: 999_999_999 }),
        async (seconds, nanoseconds) => {
          const writer = new LiveWriter(about, 1024);
          writer.add(frame(10, { seconds, nanoseconds }));
          expect((await readBack(writer.take()))[0]).toMatchObject({ seconds, nanoseconds });
        },
      ),
    );
  });
});

describe('a capture that was cut off', () => {
  it('is whole up to its last whole block, wherever it was cut and in whatever pieces it is read', () => {
    const writer = new LiveWriter(about, 4096);
    const borders = [writer.size];
    for (const length of [33, 60, 2]) {
      writer.add(frame(length, { seconds: 1000 + length, nanoseconds: 500_000_000 }));
      borders.push(writer.size);
    }
    const bytes = Buffer.from(writer.take());
    fc.assert(
      fc.property(fc.integer({ min: 0, max: bytes.length }), fc.integer({ min: 1, max: 50 }), (cut, piece) => {
        const meter = new BlockMeter();
        for (let at = 0; at < cut; at += piece) meter.push(bytes.subarray(at, Math.min(at + piece, cut)));
        const whole = borders.filter((border) => border <= cut);
        expect(meter.wholeBytes).toBe(whole.at(-1) ?? (cut >= 28 ? 28 : 0));
        expect(meter.packets).toBe(Math.max(0, whole.length - 1));
        if (meter.packets > 0) expect(meter.firstMs).toBe(1_033_500);
        if (meter.packets === 3) expect(meter.lastMs).toBe(1_002_500);
      }),
    );
  });

  it('ends where the following bytes are not a block', () => {
    const writer = new LiveWriter(about, 4096);
    writer.add(frame(20));
    const good = Buffer.from(writer.take());
    const meter = new BlockMeter();
    meter.push(Buffer.concat([good, Buffer.alloc(4096)]));
    expect(meter).toMatchObject({ wholeBytes: good.length, packets: 1 });
  });
});
