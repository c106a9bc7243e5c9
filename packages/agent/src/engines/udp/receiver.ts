import type { Samples } from '../../engine.ts';
import type { Datagram } from '../../net/datagram/datagram-transport.ts';
import { FlowTracker } from './flow-tracker.ts';
import { readStamp, type Stamp } from './packet.ts';

/** Receive metrics of all flows. */
export class Receiver {
  /** By sender, then by flow id. */
  readonly #senders = new Map<number, Map<number, FlowTracker>>();
  #flowCount = 0;
  readonly #meters;

  /** `histogramName`: one-way latency at the server, round-trip time at the client. */
  constructor(samples: Samples, histogramName: 'udp.latency' | 'udp.rtt') {
    this.#meters = {
      received: samples.counter('udp.received'),
      rxBytes: samples.counter('udp.rxBytes'),
      lost: samples.counter('udp.lost'),
      reordered: samples.counter('udp.reordered'),
      duplicates: samples.counter('udp.duplicates'),
      foreign: samples.counter('udp.foreign'),
      lossMs: samples.counter('udp.packetLossDurationMs'),
      jitter: samples.histogram('udp.jitter'),
      travel: samples.histogram(histogramName),
      flows: samples.gauge('udp.flows'),
    };
  }

  /** Returns the stamp of the packet; undefined without one. `received` does not count duplicates. */
  arrive({ bytes, start, end, now, from }: Datagram): Stamp | undefined {
    const receivedAt = performance.timeOrigin + now;
    const meters = this.#meters;
    const stamp = readStamp(bytes, start, end);
    if (stamp === undefined) {
      meters.foreign.add(1);
      return undefined;
    }
    const arrival = this.#flowOf(stamp, from).arrive(stamp.sequence, stamp.sentAt, receivedAt);
    meters.rxBytes.add(end - start);
    if (arrival.isDuplicate) meters.duplicates.add(1);
    else meters.received.add(1);
    if (arrival.isReordered) meters.reordered.add(1);
    if (arrival.lostChange !== 0) meters.lost.add(arrival.lostChange);
    // The mean over all flows: an outage of one second is one second, however many flows it interrupts.
    if (arrival.lossMsChange !== 0) meters.lossMs.add(arrival.lossMsChange / this.#flowCount);
    meters.jitter.record(arrival.jitterMs * 1000);
    meters.travel.record((receivedAt - stamp.sentAt) * 1000);
    return stamp;
  }

  #flowOf({ flow }: Stamp, from: number): FlowTracker {
    let flows = this.#senders.get(from);
    if (flows === undefined) {
      flows = new Map();
      this.#senders.set(from, flows);
    }
    const known = flows.get(flow);
    if (known !== undefined) return known;
    const tracker = new FlowTracker();
    flows.set(flow, tracker);
    this.#meters.flows.set(++this.#flowCount);
    return tracker;
  }
}
