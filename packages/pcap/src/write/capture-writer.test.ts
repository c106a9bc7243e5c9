import { describe, expect, it } from 'vitest';
import { packetsOf } from '../read/capture-reader.ts';
import type { Packet } from '../read/packet.ts';
import { CaptureWriter } from './capture-writer.ts';

async function readBack(bytes: Uint8Array): Promise<Packet[]> {
  const packets: Packet[] = [];
  for await (const packet of packetsOf(bytes)) packets.push(packet);
  return packets;
}

describe('a written capture', () => {
  it.each([
    ['pcap', 999_999_000],
    ['pcap-ns', 999_999_999],
    ['pcapng', 999_999_999],
  ] as const)('in %s gives back what was put in, to the precision of the format', async (format, nanoseconds) => {
    const writer = new CaptureWriter({ format, linkType: 101, snapLen: 500 });
    const parts: Uint8Array[] = [];
    for (const length of [0, 1, 2, 3, 4, 90_000]) {
      const bytes = new Uint8Array(length + 2).fill(length);
      writer.add({ seconds: 4_000_000_000, nanoseconds: 999_999_999, bytes, start: 1, length, wireLength: 100_000 });
      parts.push(writer.take());
      expect(writer.size).toBe(0);
    }
    const packets = await readBack(Buffer.concat(parts));
    expect(packets.map((packet) => packet.length)).toEqual([0, 1, 2, 3, 4, 90_000]);
    for (const packet of packets) {
      expect(packet).toMatchObject({ seconds: 4_000_000_000, nanoseconds, linkType: 101, wireLength: 100_000 });
      expect(packet.bytes.every((byte) => byte === (packet.length & 255))).toBe(true);
    }
  });

  it('mixes link types only in pcapng', async () => {
    const writer = new CaptureWriter({ format: 'pcapng', linkType: 1 });
    for (const linkType of [1, 101, 1]) writer.add({ seconds: 0, nanoseconds: 0, bytes: new Uint8Array(4), linkType });
    expect((await readBack(writer.take())).map((packet) => packet.linkType)).toEqual([1, 101, 1]);
    const classic = new CaptureWriter({ format: 'pcap', linkType: 1 });
    const other = { seconds: 0, nanoseconds: 0, bytes: new Uint8Array(4), linkType: 101 };
    expect(() => classic.add(other)).toThrow('one link type');
  });
});
