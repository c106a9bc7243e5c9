import { CaptureReader } from './capture-reader.ts';
import { copyOf, type Packet, type PacketSink } from './packet.ts';

/** A whole capture, or its chunks in order; a file stream fits. */
export type CaptureSource = Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** Feeds every packet to `sink` and stops reading the source as soon as the sink returns false. */
export async function readCapture(source: CaptureSource, sink: PacketSink): Promise<CaptureReader> {
  const reader = new CaptureReader(sink);
  if (source instanceof Uint8Array) reader.push(source);
  else for await (const chunk of source) if (!reader.push(chunk)) break;
  reader.end();
  return reader;
}

/** Packets one at a time, each with bytes of its own. */
export async function* packetsOf(source: CaptureSource): AsyncGenerator<Packet> {
  const ready: Packet[] = [];
  const reader = new CaptureReader((packet) => {
    ready.push(copyOf(packet));
    return true;
  });
  for await (const chunk of source instanceof Uint8Array ? [source] : source) {
    reader.push(chunk);
    yield* ready.splice(0);
  }
  reader.end();
}
