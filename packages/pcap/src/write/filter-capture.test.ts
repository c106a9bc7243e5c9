import { describe, expect, it } from 'vitest';
import { packetsOf } from '../read/capture-reader.ts';
import { CaptureWriter } from './capture-writer.ts';
import { filterCapture } from './filter-capture.ts';
import { ethernetFrame, udpPacket } from './frame-builder.ts';

const dump = () => {
  const writer = new CaptureWriter({ format: 'pcapng', linkType: 1 });
  for (const port of [53, 80, 53, 443]) {
    const bytes = ethernetFrame(
      udpPacket(new Uint8Array(port), { src: '10.0.0.1', dst: '10.0.0.2', srcPort: 4000, dstPort: port }),
    );
    writer.add({ seconds: port, nanoseconds: 5, bytes });
  }
  return writer.take();
};

async function* inPieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const timesOf = async (source: AsyncIterable<Uint8Array>) => {
  const times: number[] = [];
  for await (const packet of packetsOf(source)) times.push(packet.seconds);
  return times;
};

describe('a filtered capture', () => {
  it('holds the packets that pass, in their order', async () => {
    const bytes = dump();
    expect(await timesOf(filterCapture(inPieces(bytes, 37), 'udp and port 53'))).toEqual([53, 53]);
    expect(await timesOf(filterCapture(inPieces(bytes, 1000), 'host 10.0.0.2'))).toEqual([53, 80, 53, 443]);
    expect(await timesOf(filterCapture(inPieces(bytes, 1000), 'tcp'))).toEqual([]);
  });

  it('an invalid filter is refused before anything is read', () => {
    expect(() => filterCapture(inPieces(dump(), 10), 'vlan 7')).toThrow('cannot be read');
  });
});
