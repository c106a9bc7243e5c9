import type { QueuePair, UdpCarrier } from '@rushhour/wire';
import type { Counter, Samples } from '../../engine.ts';

const sumsOf = () => ({
  txBytes: 0,
  rxBytes: 0,
  retransmits: 0,
  sequenceErrors: 0,
  cnpSent: 0,
  cnpReceived: 0,
  ecnMarked: 0,
  naks: 0,
  rnrNaks: 0,
  received: 0,
});
type Sums = ReturnType<typeof sumsOf>;

const addTo = (sums: Sums, { requester, responder, counters }: QueuePair): void => {
  const asked = requester?.counters;
  const answered = responder.counters;
  sums.txBytes += (asked?.txBytes ?? 0) + answered.txBytes;
  sums.rxBytes += (asked?.rxBytes ?? 0) + answered.bytes;
  sums.retransmits += asked?.retransmits ?? 0;
  sums.sequenceErrors += (asked?.outOfOrder ?? 0) + answered.outOfOrder;
  sums.cnpSent += counters.congestionSent;
  sums.cnpReceived += counters.congestionReceived;
  sums.ecnMarked += counters.marked;
  sums.naks += asked?.refusals ?? 0;
  sums.rnrNaks += asked?.notReady ?? 0;
  sums.received += answered.messages;
};

/** Metrics of all queue pairs of a job. */
export class RdmaMeters {
  readonly #counters: ReadonlyMap<keyof Sums, Counter>;
  readonly #queuePairs;
  readonly #rate;
  readonly #invalid: Counter;
  /** Of pairs that exist no more. */
  readonly #gone = sumsOf();
  #reported = sumsOf();
  #reportedInvalid = 0;

  /** `received`: where messages that arrive are counted. */
  constructor(samples: Samples, received?: Counter) {
    const counters: Record<Exclude<keyof Sums, 'received'>, Counter> = {
      txBytes: samples.counter('rocev2.txBytes'),
      rxBytes: samples.counter('rocev2.rxBytes'),
      retransmits: samples.counter('rocev2.retransmits'),
      sequenceErrors: samples.counter('rocev2.sequenceErrors'),
      cnpSent: samples.counter('rocev2.cnpSent'),
      cnpReceived: samples.counter('rocev2.cnpReceived'),
      ecnMarked: samples.counter('rocev2.ecnMarked'),
      naks: samples.counter('rocev2.naks'),
      rnrNaks: samples.counter('rocev2.rnrNaks'),
    };
    this.#counters = new Map(Object.entries({ ...counters, ...(received && { received }) })) as ReadonlyMap<
      keyof Sums,
      Counter
    >;
    this.#queuePairs = samples.gauge('rocev2.queuePairs');
    this.#rate = samples.gauge('rocev2.rateBps');
    this.#invalid = samples.counter('rocev2.invalidCrc');
  }

  /** A pair ends: what it has counted stays. */
  retire(pair: QueuePair): void {
    addTo(this.#gone, pair);
  }

  report(pairs: readonly QueuePair[], { counters }: UdpCarrier): void {
    const sums = { ...this.#gone };
    let rateBps = 0;
    for (const pair of pairs) {
      addTo(sums, pair);
      rateBps += pair.rateBps;
    }
    for (const [name, counter] of this.#counters) counter.add(sums[name] - this.#reported[name]);
    this.#reported = sums;
    this.#queuePairs.set(pairs.length);
    if (Number.isFinite(rateBps)) this.#rate.set(rateBps);
    this.#invalid.add(counters.invalid - this.#reportedInvalid);
    this.#reportedInvalid = counters.invalid;
  }
}
