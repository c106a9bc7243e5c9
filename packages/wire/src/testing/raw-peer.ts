import { checksumOf, sumBytes } from '../bytes/checksum.ts';
import { copyOf, Memory } from '../bytes/memory.ts';
import { pseudoSumOf } from '../tcp/segment/flow-key.ts';
import { Segment, tcpFlag, writeHeader, writeSynOptions } from '../tcp/segment/segment.ts';
import { createRandom } from './random.ts';
import { SimulatedWire } from './simulated-wire.ts';

export interface RawSegment {
  readonly flags: number;
  readonly seq: number;
  readonly ack?: number;
  readonly window?: number;
  readonly data?: Uint8Array;
  readonly mss?: number;
  readonly isSackPermitted?: boolean;
  readonly timestamps?: readonly [number, number];
}

/** A peer whose segments the test writes by hand, on the server's side of a wire to one stack. */
export class RawPeer {
  readonly wire: SimulatedWire;
  /** Segments the stack sent, with their payload. */
  readonly received: (Pick<
    Segment,
    'flags' | 'seq' | 'ack' | 'window' | 'mss' | 'windowShift' | 'isSackPermitted' | 'hasTimestamps'
  > & {
    data: Uint8Array;
  })[] = [];

  constructor(limits = {}) {
    this.wire = new SimulatedWire({ random: createRandom(5), limits });
    this.wire.filter = (from, bytes) => {
      if (from !== 0) return false;
      const segment = new Segment();
      segment.parse(new Memory(bytes), 0, bytes.length);
      const { flags, seq, ack, window, mss, windowShift, isSackPermitted, hasTimestamps } = segment;
      const data = copyOf(bytes, segment.dataStart, segment.dataEnd);
      this.received.push({ flags, seq, ack, window, mss, windowShift, isSackPermitted, hasTimestamps, data });
      return false;
    };
  }

  /** Takes the segments sent since the last call. */
  take(): RawPeer['received'] {
    for (const stack of this.wire.stacks) stack.flush();
    return this.received.splice(0);
  }

  /** Sends segments to the stack whose flow has this key, which finds them at hand together. */
  send(key: Int32Array, ...segments: RawSegment[]): void {
    for (const segment of segments) this.#inject(key, segment);
    this.wire.stacks[0].flush();
  }

  #inject(key: Int32Array, segment: RawSegment): void {
    const bytes = new Uint8Array(80 + (segment.data?.length ?? 0));
    const memory = new Memory(bytes);
    const { mss = 0, isSackPermitted = false, timestamps, data } = segment;
    let end = writeSynOptions(memory.view, 20, {
      mss,
      windowShift: -1,
      isSackPermitted,
      hasTimestamps: timestamps !== undefined,
      tsValue: timestamps?.[0] ?? 0,
      tsEcho: timestamps?.[1] ?? 0,
    });
    const ports = key[8] as number;
    const reversed = (ports << 16) | (ports >>> 16);
    writeHeader(
      memory.view,
      0,
      reversed,
      segment.seq,
      segment.ack ?? 0,
      (end << 10) | segment.flags,
      segment.window ?? 65_535,
    );
    if (data !== undefined) bytes.set(data, end);
    end += data?.length ?? 0;
    memory.view.setUint16(16, checksumOf(pseudoSumOf(key) + end + sumBytes(memory, 0, end)));
    this.wire.inject(0, copyOf(bytes, 0, end), key.slice(0, 8));
  }
}

export { tcpFlag };
