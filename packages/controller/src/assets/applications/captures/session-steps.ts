import type { CaptureAnalysis, PcapInfo, PcapStep } from '@rushhour/pcap';

/** A step of a session with its payload, as the services of this folder see it. */
export interface RecordedStep {
  readonly sessionIdx: number;
  readonly stepIdx: number;
  readonly side: 'client' | 'server';
  /** After the first packet of the capture. */
  readonly atMs: number;
  readonly bytes: Uint8Array;
}

/** The ends of a session and what it speaks. */
export interface RecordedSession {
  readonly sessionIndex: number;
  readonly srcIp: string;
  readonly srcPort: number;
  readonly dstIp: string;
  readonly dstPort: number;
  readonly appProtocol: string;
}

/** The recorded steps, made when they are first asked for. */
export class SessionSteps {
  readonly #analysis: CaptureAnalysis;
  readonly #info: PcapInfo;
  readonly #chosen: ReadonlySet<number>;
  readonly #known = new Map<number, (PcapStep & { atMs: number })[]>();

  constructor(analysis: CaptureAnalysis, info: PcapInfo, chosen: ReadonlySet<number>) {
    this.#analysis = analysis;
    this.#info = info;
    this.#chosen = chosen;
  }

  outline(sessionIdx: number) {
    if (!this.#chosen.has(sessionIdx)) return undefined;
    const known = this.#known.get(sessionIdx);
    if (known) return known;
    const startMs = this.#info.sessions[sessionIdx]?.startMs ?? 0;
    const steps = this.#analysis.steps(sessionIdx).map((step) => ({ ...step, atMs: startMs + step.relTimeMs }));
    this.#known.set(sessionIdx, steps);
    return steps;
  }

  one(sessionIdx: number, stepIdx: number): RecordedStep {
    const step = this.outline(sessionIdx)?.[stepIdx];
    if (step === undefined) throw new RangeError(`there is no step ${stepIdx} in session ${sessionIdx}`);
    const { side, atMs } = step;
    return { sessionIdx, stepIdx, side, atMs, bytes: this.#analysis.stepBytes(sessionIdx, stepIdx) };
  }

  *all(wanted: readonly number[] | undefined): Generator<RecordedStep> {
    for (const sessionIdx of new Set(wanted ?? this.#chosen)) {
      for (const { stepIdx } of this.outline(sessionIdx) ?? []) yield this.one(sessionIdx, stepIdx);
    }
  }

  appProtocol(sessionIdx: number) {
    return this.#info.sessions[sessionIdx]?.appProtocol ?? 'unknown';
  }
}
