import type { Samples } from '../../engine.ts';
import { addressBytes } from '../../net/packet/frame/network-layers.ts';
import { maxStreams, readSignature, type Signature } from '../../net/packet/frame/signature.ts';
import type { ArrivedFrame } from '../../net/packet/packet-ring.ts';

/** Number of missing sequence numbers kept per stream, to distinguish late frames from duplicates. */
const maxMissing = 4096;

/** Effect of a frame on its stream. */
type Arrival = 'next' | 'late' | 'duplicate';

/** Tracks the sequence numbers of one stream. Small without loss, because there may be a million streams. */
export class SequenceTracker {
  #highest = -1;
  #missing: Set<number> | undefined;
  #transitUs = Number.NaN;
  /** Interarrival jitter (RFC 3550). */
  jitterUs = 0;
  /** Frames missing before the last `next` arrival. */
  gap = 0;

  arrive(sequence: number, transitUs: number): Arrival {
    if (!Number.isNaN(this.#transitUs)) this.jitterUs += (Math.abs(transitUs - this.#transitUs) - this.jitterUs) / 16;
    this.#transitUs = transitUs;
    if (sequence > this.#highest) {
      this.gap = sequence - this.#highest - 1;
      if (this.gap > 0) this.#miss(sequence);
      this.#highest = sequence;
      return 'next';
    }
    return this.#missing?.delete(sequence) === true ? 'late' : 'duplicate';
  }

  #miss(before: number): void {
    this.#missing ??= new Set();
    for (let number = Math.max(this.#highest + 1, before - maxMissing); number < before; number++)
      this.#missing.add(number);
    for (const oldest of this.#missing) {
      if (this.#missing.size <= maxMissing) return;
      this.#missing.delete(oldest);
    }
  }
}

const tagBytes = 4;
const vlanTypes = new Set([0x8100, 0x88a8, 0x9100]);

/** The last 32 bits of the destination address; −1 for tunnels and other protocols. */
const destinationOf = ({ bytes, start, end }: ArrivedFrame): number => {
  let at = start + 12;
  let type = bytes.readUInt16BE(at);
  while (vlanTypes.has(type) && at + 6 < end) {
    at += tagBytes;
    type = bytes.readUInt16BE(at);
  }
  if (type === 0x0800 && at + 22 <= end) return bytes[at + 11] === 47 ? -1 : bytes.readUInt32BE(at + 18);
  return type === 0x86dd && at + 42 <= end ? bytes.readUInt32BE(at + 38) : -1;
};

/** Receive metrics of all streams. */
export class Receiver {
  readonly #trackers = new Map<number, SequenceTracker>();
  readonly #signature: Signature = { sender: 0, stream: 0, sequence: 0, seconds: 0, nanoseconds: 0 };
  readonly #destinations: ReadonlySet<number> | undefined;
  readonly #meters;

  /** `addresses`: accepted destinations; undefined: all. */
  constructor(samples: Samples, addresses: readonly string[] | undefined) {
    this.#destinations =
      addresses &&
      new Set(addresses.map((address) => addressBytes(address)).map((bytes) => bytes.readUInt32BE(bytes.length - 4)));
    this.#meters = {
      received: samples.counter('stream.received'),
      rxBytes: samples.counter('stream.rxBytes'),
      lost: samples.counter('stream.lost'),
      reordered: samples.counter('stream.reordered'),
      duplicates: samples.counter('stream.duplicates'),
      sequenceErrors: samples.counter('stream.sequenceErrors'),
      misdirected: samples.counter('stream.misdirected'),
      latency: samples.histogram('stream.latency'),
      jitter: samples.histogram('stream.jitter'),
      streams: samples.gauge('stream.streams'),
    };
  }

  /** `received` counts each frame once, without duplicates. */
  arrive(frame: ArrivedFrame): void {
    const signature = this.#signature;
    const meters = this.#meters;
    if (!readSignature(frame.bytes, frame.end, signature)) return;
    if (this.#isMisdirected(frame)) {
      meters.misdirected.add(1);
      return;
    }
    const seconds = ((frame.seconds - signature.seconds) << 16) >> 16;
    const transitUs = seconds * 1e6 + (frame.nanoseconds - signature.nanoseconds) / 1000;
    const tracker = this.#trackerOf(signature);
    const arrival = tracker.arrive(signature.sequence, transitUs);
    meters.rxBytes.add(frame.end - frame.start + (frame.tag < 0 ? 0 : tagBytes));
    meters.latency.record(transitUs);
    meters.jitter.record(tracker.jitterUs);
    if (arrival === 'duplicate') meters.duplicates.add(1);
    else meters.received.add(1);
    if (arrival === 'late') meters.reordered.add(1);
    if (arrival === 'next') {
      if (tracker.gap > 0) meters.lost.add(tracker.gap);
    } else {
      meters.sequenceErrors.add(1);
      if (arrival === 'late') meters.lost.add(-1);
    }
  }

  #isMisdirected(frame: ArrivedFrame): boolean {
    if (this.#destinations === undefined) return false;
    const destination = destinationOf(frame);
    return destination >= 0 && !this.#destinations.has(destination);
  }

  #trackerOf({ sender, stream }: Signature): SequenceTracker {
    const key = sender * maxStreams + stream;
    const known = this.#trackers.get(key);
    if (known !== undefined) return known;
    const tracker = new SequenceTracker();
    this.#trackers.set(key, tracker);
    this.#meters.streams.set(this.#trackers.size);
    return tracker;
  }
}
