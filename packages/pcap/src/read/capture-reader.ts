import { PcapError } from '../pcap-error.ts';
import type { CaptureFormat, ParserContext, RecordParser } from './capture-format.ts';
import { copyOf, createPacket, type Packet, type PacketSink } from './packet.ts';
import { PcapRecords } from './pcap-records.ts';
import { PcapngBlocks } from './pcapng-blocks.ts';

const MAGIC_BYTES = 4;

/** Fed with chunks of any size; holds at most the one record that a chunk border cuts. */
export class CaptureReader {
  /** True after `end` when the file stops inside a record. */
  cutFile = false;
  readonly #context: ParserContext;
  #parser: RecordParser | undefined;
  #carry = new Uint8Array(4096);
  #carryView = new DataView(this.#carry.buffer);
  #carried = 0;
  #skip = 0;

  constructor(sink: PacketSink) {
    this.#context = { packet: createPacket(), sink };
  }

  get format(): CaptureFormat | undefined {
    return this.#parser?.format;
  }

  get snapLen(): number {
    return this.#parser?.snapLen ?? 0;
  }

  get isStopped(): boolean {
    return this.#parser?.isStopped ?? false;
  }

  /** False once the sink has had enough: feeding more is pointless. */
  push(given: Uint8Array): boolean {
    // A Buffer is a Uint8Array whose slice is no copy: what is kept would hold and share the whole chunk.
    const chunk = new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
    const view = new DataView(given.buffer, given.byteOffset, given.byteLength);
    let at = 0;
    while (at < chunk.length && !this.isStopped) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - at);
        this.#skip -= skipped;
        at += skipped;
      } else if (this.#carried > 0) {
        at += this.#topUp(chunk, at);
      } else {
        at = this.#consume(chunk, view, at, chunk.length);
        if (this.#skip === 0 && !this.isStopped) at += this.#hold(chunk, at, chunk.length - at);
      }
    }
    return !this.isStopped;
  }

  end(): void {
    if (this.#parser === undefined) throw notACapture();
    this.cutFile = !this.isStopped && (this.#carried > 0 || this.#skip > 0);
  }

  get #need(): number {
    return this.#parser?.need ?? MAGIC_BYTES;
  }

  #topUp(chunk: Uint8Array, at: number): number {
    const taken = this.#hold(chunk, at, Math.min(this.#need - this.#carried, chunk.length - at));
    if (this.#carried < this.#need) return taken;
    const used = this.#consume(this.#carry, this.#carryView, 0, this.#carried);
    this.#carry.copyWithin(0, used, this.#carried);
    this.#carried -= used;
    return taken;
  }

  #hold(chunk: Uint8Array, at: number, count: number): number {
    const wanted = Math.max(this.#need, this.#carried + count);
    if (wanted > this.#carry.length) {
      const larger = new Uint8Array(wanted * 2);
      larger.set(this.#carry.subarray(0, this.#carried));
      this.#carry = larger;
      this.#carryView = new DataView(larger.buffer);
    }
    this.#carry.set(chunk.subarray(at, at + count), this.#carried);
    this.#carried += count;
    return count;
  }

  #consume(bytes: Uint8Array, view: DataView, start: number, end: number): number {
    if (this.#parser === undefined) {
      if (end - start < MAGIC_BYTES) return start;
      this.#parser = parserFor(view.getUint32(start, true), this.#context);
      if (end - start < this.#parser.need) return start;
    }
    const next = this.#parser.consume(bytes, view, start, end);
    this.#skip = this.#parser.skip;
    this.#parser.skip = 0;
    return next;
  }
}

function parserFor(magic: number, context: ParserContext): RecordParser {
  if (magic === 0xa1b2c3d4) return new PcapRecords(context, true, false);
  if (magic === 0xd4c3b2a1) return new PcapRecords(context, false, false);
  if (magic === 0xa1b23c4d) return new PcapRecords(context, true, true);
  if (magic === 0x4d3cb2a1) return new PcapRecords(context, false, true);
  if (magic === 0x0a0d0d0a) return new PcapngBlocks(context);
  throw notACapture();
}

function notACapture(): PcapError {
  return new PcapError('NOT_A_PCAP', 'The file is neither a pcap nor a pcapng capture.');
}

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
