import type { Histogram } from '@rushhour/protocol';
import type { Counter, Samples } from '../../../engine.ts';
import { signatureBytes, signatureMark } from '../../../net/packet/frame/signature.ts';
import type { ArrivedFrame } from '../../../net/packet/packet-ring.ts';
import type { Receiver } from '../receiver.ts';
import { readTrialQuestion, type TrialCount, type TrialQuestion, trialAnswer, trialStream } from './rfc2544-message.ts';

export interface TrialReceiverParts {
  readonly samples: Samples;
  /** Creates a fresh receiver. */
  readonly createReceiver: () => Receiver;
  /** Frames dropped since the start because the ring was full. */
  readonly drops: () => number;
}

/** The interface of a query, for sending the answer. */
export interface TrialPort {
  readonly mac: Uint8Array;
  send(frame: Buffer): void;
}

interface Trial {
  readonly tag: number;
  readonly receiver: Receiver;
  readonly before: { readonly counts: readonly number[]; readonly latency: Histogram; readonly drops: number };
}

const noTrial = -1;
const counted = ['stream.received', 'stream.duplicates', 'stream.reordered'] as const;

/** Counts the frames of one trial at a time and answers queries of the sender. */
export class TrialReceiver {
  readonly #parts: TrialReceiverParts;
  readonly #counters: readonly Counter[];
  readonly #latency: Histogram;
  readonly #strays: Counter;
  #trial: Trial | undefined;

  constructor(parts: TrialReceiverParts) {
    this.#parts = parts;
    this.#counters = counted.map((name) => parts.samples.counter(name));
    this.#latency = parts.samples.histogram('stream.latency');
    this.#strays = parts.samples.counter('stream.strays');
  }

  arrive(frame: ArrivedFrame, port: TrialPort): void {
    const { bytes, end } = frame;
    const at = end - signatureBytes;
    if (bytes.readUIntBE(at, 3) !== signatureMark) return;
    if (bytes.readUIntBE(at + 5, 3) === trialStream) this.#answer(frame, port);
    else if (bytes.readUInt16BE(at + 3) === (this.#trial?.tag ?? noTrial)) this.#trial?.receiver.arrive(frame);
    else this.#strays.add(1);
  }

  #answer(frame: ArrivedFrame, port: TrialPort): void {
    const question = readTrialQuestion(frame);
    const trial = question && this.#trialOf(question);
    if (trial === undefined) return;
    const answer = trialAnswer(frame, port.mac, this.#countOf(trial));
    if (answer !== undefined) port.send(answer);
  }

  /** Queries may be repeated: only the first one of a trial starts it. */
  #trialOf({ asks, tag }: TrialQuestion): Trial | undefined {
    if (this.#trial?.tag === tag) return this.#trial;
    if (asks !== 'begin') return undefined;
    const before = {
      counts: this.#counters.map(({ value }) => value),
      latency: this.#latency.copy(),
      drops: this.#parts.drops(),
    };
    this.#trial = { tag, receiver: this.#parts.createReceiver(), before };
    return this.#trial;
  }

  #countOf({ before }: Trial): TrialCount {
    const [received = 0, duplicates = 0, reordered = 0] = this.#counters.map(
      ({ value }, index) => value - (before.counts[index] as number),
    );
    const latency = this.#latency.since(before.latency);
    const times = { minUs: latency.min, avgUs: latency.avg, p50Us: latency.quantile(0.5), maxUs: latency.max };
    const drops = this.#parts.drops() - before.drops;
    return { received, duplicates, reordered, drops, ...times, p99Us: latency.quantile(0.99) };
  }
}
