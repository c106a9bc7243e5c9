import { dissect } from '../dissect/dissect.ts';
import { Frame } from '../dissect/frame.ts';
import { CaptureReader } from '../read/capture-reader.ts';
import { LINK_ETHERNET } from '../read/link-type.ts';
import { type PacketTest, parseFilter } from '../read/packet-filter.ts';
import { CaptureWriter } from './capture-writer.ts';

const FLUSH_BYTES = 262_144;

/** The packets that pass a filter, as pcapng. A filter that cannot be read throws at once. */
export function filterCapture(source: AsyncIterable<Uint8Array>, filter: string): AsyncGenerator<Uint8Array> {
  return passing(source, parseFilter(filter));
}

async function* passing(source: AsyncIterable<Uint8Array>, passes: PacketTest): AsyncGenerator<Uint8Array> {
  const writer = new CaptureWriter({ format: 'pcapng', linkType: LINK_ETHERNET });
  const frame = new Frame();
  const reader = new CaptureReader((packet) => {
    dissect(frame, packet);
    if (passes(frame)) writer.add(packet);
    return true;
  });
  for await (const chunk of source) {
    reader.push(chunk);
    if (writer.size >= FLUSH_BYTES) yield writer.take();
  }
  reader.end();
  yield writer.take();
}
