import type { PlaneCommand, ResultRow } from '@rushhour/protocol';
import type { Samples } from '../../engine.ts';
import { maxStreams, readSignature, type Signature } from '../../net/packet/frame/signature.ts';
import type { ArrivedFrame } from '../../net/packet/packet-ring.ts';
import { Flow, type Interruption } from './flow.ts';

/** Flows that the table of a run lists. */
export const maxRows = 10_000;
/** An event explains interruptions that begin so long after it at most. */
const maxEventLeadUs = 60_000_000;
const tagBytes = 4;

interface MonitoredFlow {
  readonly flow: Flow;
  readonly sender: number;
  readonly stream: number;
  state: 'up' | 'down';
  isChanged: boolean;
  /** End of the interruption before the last one. */
  previousEndUs: number;
  event: string;
  controlUs: number | null;
}

interface ControlEvent {
  readonly atUs: number;
  readonly name: string;
}

const metersOf = (samples: Samples) => ({
  received: samples.counter('convergence.received'),
  rxBytes: samples.counter('convergence.rxBytes'),
  lost: samples.counter('convergence.lost'),
  lossDurationMs: samples.counter('convergence.lossDurationMs'),
  reordered: samples.counter('convergence.reordered'),
  duplicates: samples.counter('convergence.duplicates'),
  events: samples.counter('convergence.events'),
  dataPlane: samples.histogram('convergence.dataPlane'),
  controlToDataPlane: samples.histogram('convergence.controlToDataPlane'),
  flowsDown: samples.gauge('convergence.flowsDown'),
  streams: samples.gauge('convergence.streams'),
});

/** Watches all flows that arrive, and relates their interruptions to events of the control plane. */
export class FlowMonitor {
  readonly #flows = new Map<number, MonitoredFlow>();
  readonly #events: ControlEvent[] = [];
  readonly #signature: Signature = { sender: 0, stream: 0, sequence: 0, seconds: 0, nanoseconds: 0 };
  readonly #meters: ReturnType<typeof metersOf>;
  readonly #putRow: (row: ResultRow) => void;

  constructor(samples: Samples, putRow: (row: ResultRow) => void) {
    this.#meters = metersOf(samples);
    this.#putRow = putRow;
  }

  get flowCount(): number {
    return this.#flows.size;
  }

  /** Of all flows. */
  get lastArrivalUs(): number {
    return this.#flows.values().reduce((last, { flow }) => Math.max(last, flow.lastArrivalUs), 0);
  }

  arrive(frame: ArrivedFrame): void {
    const signature = this.#signature;
    if (!readSignature(frame.bytes, frame.end, signature)) return;
    const rxUs = frame.seconds * 1e6 + frame.nanoseconds / 1000;
    const seconds = ((frame.seconds - signature.seconds) << 16) >> 16;
    const txUs = rxUs - seconds * 1e6 - (frame.nanoseconds - signature.nanoseconds) / 1000;
    this.#meters.rxBytes.add(frame.end - frame.start + (frame.tag < 0 ? 0 : tagBytes));
    this.take(signature, { txUs, rxUs });
  }

  /** Counts one packet. */
  take(signature: Pick<Signature, 'sender' | 'stream' | 'sequence'>, times: { txUs: number; rxUs: number }): void {
    const meters = this.#meters;
    const monitored = this.#flowOf(signature);
    const { flow } = monitored;
    const { received, lost, lossDurationUs, reordered, duplicates } = flow;
    const ended = flow.arrive(signature.sequence, times);
    meters.received.add(flow.received - received);
    meters.duplicates.add(flow.duplicates - duplicates);
    meters.reordered.add(flow.reordered - reordered);
    if (flow.lost !== lost) meters.lost.add(flow.lost - lost);
    if (flow.lossDurationUs !== lossDurationUs)
      meters.lossDurationMs.add((flow.lossDurationUs - lossDurationUs) / 1000 / this.#flows.size);
    if (ended !== undefined) this.#recover(monitored, ended);
  }

  /** An event of the control plane at this time. */
  addEvent({ action, from, to, values = [] }: PlaneCommand, atUs: number): void {
    const range = from === undefined && to === undefined ? [] : [`${from ?? 0}–${to ?? 'last'}`];
    this.#events.push({ atUs, name: [action, ...range, ...values.slice(0, 3)].join(' ') });
    this.#meters.events.add(1);
  }

  /** Reports the flows whose state has changed. */
  report(nowUs: number): void {
    let down = 0;
    let index = 0;
    for (const monitored of this.#flows.values()) {
      const state = monitored.flow.isDown(nowUs) ? 'down' : 'up';
      if (state === 'down') down++;
      if (state !== monitored.state || monitored.isChanged) {
        monitored.state = state;
        monitored.isChanged = false;
        if (index < maxRows) this.#putRow({ index, state, cells: cellsOf(monitored) });
      }
      index++;
    }
    this.#meters.flowsDown.set(down);
  }

  /** Ends all interruptions of flows that have recovered, and reports every flow. */
  finish(nowUs: number): void {
    for (const monitored of this.#flows.values()) {
      monitored.isChanged = true;
      const ended = monitored.flow.isSilent(nowUs) ? undefined : monitored.flow.finish();
      if (ended !== undefined) this.#recover(monitored, ended);
    }
    this.report(nowUs);
  }

  #recover(monitored: MonitoredFlow, interruption: Interruption): void {
    monitored.isChanged = true;
    this.#meters.dataPlane.record(interruption.durationUs);
    const event = this.#eventBefore(interruption, monitored.previousEndUs);
    monitored.previousEndUs = interruption.endUs;
    monitored.event = event?.name ?? '';
    monitored.controlUs = event === undefined ? null : Math.round(interruption.endUs - event.atUs);
    if (monitored.controlUs !== null) this.#meters.controlToDataPlane.record(monitored.controlUs);
  }

  /** The last event before the recovery that is no older than the last recovery. */
  #eventBefore({ beginUs, endUs }: Interruption, previousEndUs: number): ControlEvent | undefined {
    const earliestUs = Math.max(previousEndUs, beginUs - maxEventLeadUs);
    return this.#events.findLast(({ atUs }) => atUs <= endUs && atUs >= earliestUs);
  }

  #flowOf({ sender, stream }: Pick<Signature, 'sender' | 'stream'>): MonitoredFlow {
    const key = sender * maxStreams + stream;
    const known = this.#flows.get(key);
    if (known !== undefined) return known;
    const monitored: MonitoredFlow = {
      flow: new Flow(),
      sender,
      stream,
      state: 'up',
      isChanged: true,
      previousEndUs: Number.NEGATIVE_INFINITY,
      event: '',
      controlUs: null,
    };
    this.#flows.set(key, monitored);
    this.#meters.streams.set(this.#flows.size);
    return monitored;
  }
}

/** Microseconds since 1970 as a date with six decimals. */
const dateOf = (us: number): string => {
  const whole = Math.floor(us);
  const digits = String(whole % 1000).padStart(3, '0');
  return new Date(Math.floor(whole / 1000)).toISOString().replace('Z', `${digits}Z`);
};

const cellsOf = ({ flow, sender, stream, event, controlUs }: MonitoredFlow): ResultRow['cells'] => ({
  flow: stream,
  sender,
  received: flow.received,
  lost: flow.lost,
  lossDurationUs: Math.round(flow.lossDurationUs),
  interruptions: flow.interruptions,
  longestUs: Math.round(flow.longestUs),
  lastUs: flow.last === undefined ? null : Math.round(flow.last.durationUs),
  beganAt: flow.last === undefined ? null : dateOf(flow.last.beginUs),
  recoveredAt: flow.last === undefined ? null : dateOf(flow.last.endUs),
  lastPacketAt: dateOf(flow.lastArrivalUs),
  event,
  controlToDataPlaneUs: controlUs,
});
