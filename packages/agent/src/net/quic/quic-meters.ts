import type { Samples } from '../../engine.ts';
import type { PacketMeters } from './packet-observer.ts';

/** Watching packets costs time, so that only every tenth connection is watched. */
const connectionsPerObserver = 10;

/** Whether the packets of a connection are watched, by its place among those of a job. */
export const isWatched = (index: number): boolean => index % connectionsPerObserver === 0;

export const packetMeters = (samples: Samples, engine: string): PacketMeters => {
  const sent = samples.counter(`${engine}.quicPackets`);
  const lost = samples.counter(`${engine}.quicLost`);
  const roundTrip = samples.histogram(`${engine}.quicRtt`);
  return {
    onSent: () => sent.add(1),
    onLost: (count) => lost.add(count),
    onRoundTrip: (microseconds) => roundTrip.record(microseconds),
  };
};

/** Counts connections that go on from another port; the metric exists only where one does. */
export const countMoves = (samples: Samples, engine: string) => () => samples.counter(`${engine}.quicMoves`).add(1);
