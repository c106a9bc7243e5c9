import { setTimeout as sleep } from 'node:timers/promises';
import { contentKeyOf, dissectEthernet, Frame, segmentOf } from '@rushhour/pcap';
import type { Samples } from '../../engine.ts';
import { numberToAddress } from '../../net/addresses/address-range.ts';
import type { ArrivedFrame } from '../../net/packet/packet-ring.ts';
import { ArrivalTracker } from './arrival-tracker.ts';
import type { SegmentIndex } from './segment-index.ts';

const lookMs = 20;
const silenceMs = 500;
const maxWaitMs = 3000;

/** Frames expected from the peer in one loop. */
export interface Expectation {
  readonly keys: readonly number[];
  readonly lengths: readonly number[];
  readonly segments: SegmentIndex;
  readonly loops: number;
  /** Whether frames from this address belong to this part. */
  readonly isFrom: (address: string) => boolean;
}

interface Part {
  readonly expected: Expectation;
  readonly tracker: ArrivalTracker;
}

/** Counts frames of the peer, matched by content. */
export class Receiver {
  readonly #parts: readonly Part[];
  readonly #frame = new Frame();
  readonly #meters;
  /** Arrival time of the last frame. */
  heardAt = Number.NEGATIVE_INFINITY;

  constructor(samples: Samples, expectations: readonly Expectation[]) {
    this.#parts = expectations
      .filter(({ keys }) => keys.length > 0)
      .map((expected) => ({ expected, tracker: new ArrivalTracker(expected.keys, expected.loops) }));
    this.#meters = {
      received: samples.counter('pcap-replay.received'),
      rxBytes: samples.counter('pcap-replay.rxBytes'),
      lost: samples.counter('pcap-replay.lost'),
    };
  }

  get expectsNothing(): boolean {
    return this.#parts.length === 0;
  }

  /** Number of frames still expected; may be infinite. */
  get outstanding(): number {
    return this.#parts.reduce((sum, { tracker }) => sum + tracker.outstanding, 0);
  }

  arrive({ bytes, start, end }: ArrivedFrame): void {
    const frame = this.#frame;
    dissectEthernet(frame, bytes, start, end - start);
    const part =
      this.#parts.length === 1 ? this.#parts[0] : this.#parts.find(({ expected }) => isSentBy(frame, expected));
    if (part === undefined || this.#count(part, contentKeyOf(frame))) return;
    const segment = segmentOf(frame);
    if (segment !== undefined) for (const key of part.expected.segments.partsOf(segment)) this.#count(part, key);
  }

  /** False when the frame is unknown. */
  #count({ expected, tracker }: Part, key: number): boolean {
    const arrival = tracker.arrive(key);
    if (arrival === 'foreign' || arrival === 'duplicate') return arrival === 'duplicate';
    if (arrival === 'late') this.#meters.lost.add(-1);
    else if (tracker.gap > 0) this.#meters.lost.add(tracker.gap);
    this.#meters.received.add(1);
    this.#meters.rxBytes.add(expected.lengths[tracker.position] as number);
    this.heardAt = performance.now();
    return true;
  }

  /** Waits for frames in transit: until all have arrived, or none for longer than paths usually hold frames. */
  async untilQuiet(): Promise<void> {
    const begun = performance.now();
    while (this.outstanding > 0) {
      const now = performance.now();
      if (now - Math.max(begun, this.heardAt) > silenceMs || now - begun > maxWaitMs) return;
      await sleep(lookMs);
    }
  }

  /** Counts all outstanding frames as lost. */
  giveUp(): void {
    for (const { tracker } of this.#parts) {
      if (!Number.isFinite(tracker.outstanding) || tracker.outstanding <= 0) continue;
      this.#meters.lost.add(tracker.outstanding);
      tracker.highest += tracker.outstanding;
    }
  }
}

const isSentBy = (frame: Frame, { isFrom }: Expectation): boolean => {
  if (frame.ipVersion !== 4 && frame.ipVersion !== 6) return false;
  const size = frame.ipVersion === 4 ? 4 : 16;
  let value = 0n;
  for (let at = frame.source; at < frame.source + size; at++) value = (value << 8n) | BigInt(frame.bytes[at] as number);
  return isFrom(numberToAddress(value, frame.ipVersion));
};
