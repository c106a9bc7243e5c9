import type { AgentHealth, AgentLimits, ToAgent, ToController } from '@rushhour/protocol';
import { systemClockStepMs } from '../clock.ts';
import type { ClockSync } from './clock-sync.ts';

const healthEveryMs = 2000;
/** The first heartbeats follow quickly, so that the clocks are compared before the first run. */
const firstBeatsMs = [0, 60, 120];
const minSilenceMs = 3000;

export interface HeartbeatDeps {
  readonly clock: ClockSync;
  readonly health: () => Promise<AgentHealth>;
  readonly send: (message: ToController) => boolean;
  /** The controller has been silent for several heartbeats. */
  readonly onSilence: () => void;
}

/** Sends heartbeats to the controller and detects when it is silent. */
export class Heartbeat {
  readonly #deps: HeartbeatDeps;
  readonly #timers: NodeJS.Timeout[] = [];
  #everyMs = 0;
  #healthAt = Number.NEGATIVE_INFINITY;
  #heardAt = performance.now();

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps;
  }

  start(limits: AgentLimits): void {
    this.stop();
    this.#everyMs = limits.heartbeatMs;
    this.#heardAt = performance.now();
    for (const delay of firstBeatsMs) this.#timers.push(setTimeout(() => void this.#beat(), delay));
    this.#timers.push(setInterval(() => this.#tick(), limits.heartbeatMs));
  }

  /** Call with every message of the controller. */
  heard(message: ToAgent): void {
    this.#heardAt = performance.now();
    if (message.type === 'beat') this.#deps.clock.answered(message.sentAt, message.at);
  }

  stop(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
  }

  #tick(): void {
    const silentMs = performance.now() - this.#heardAt;
    if (silentMs > Math.max(minSilenceMs, 5 * this.#everyMs)) this.#deps.onSilence();
    else void this.#beat();
  }

  async #beat(): Promise<void> {
    const { clock, send, health } = this.#deps;
    const now = performance.now();
    const isDue = now - this.#healthAt >= healthEveryMs - this.#everyMs / 2;
    if (isDue) this.#healthAt = now;
    const measured = isDue ? { health: await health() } : {};
    const { offsetMs, roundTripMs } = clock;
    const clockOffsetMs = offsetMs - systemClockStepMs();
    send({ type: 'heartbeat', sentAt: clock.stamp(), clockOffsetMs, roundTripMs, ...measured });
  }
}
