import type { AgentHealth, AgentLimits, ToAgent, ToController } from '@rushhour/protocol';
import type { ClockSync } from './clock-sync.ts';

const healthEveryMs = 2000;
/** The first beats follow fast, so that the clocks are compared before the first run. */
const firstBeatsMs = [0, 60, 120];
const leastSilenceMs = 3000;

export interface HeartbeatDeps {
  readonly clock: ClockSync;
  readonly health: () => Promise<AgentHealth>;
  readonly send: (message: ToController) => boolean;
  /** The controller has not been heard for several beats. */
  readonly onSilence: () => void;
}

/** Tells the controller regularly that the agent lives, and notices when the controller does not. */
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

  /** To be called with everything the controller says. */
  heard(message: ToAgent): void {
    this.#heardAt = performance.now();
    if (message.type === 'beat') this.#deps.clock.answered(message.sentAt, message.at);
  }

  stop(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
  }

  #tick(): void {
    const silentMs = performance.now() - this.#heardAt;
    if (silentMs > Math.max(leastSilenceMs, 5 * this.#everyMs)) this.#deps.onSilence();
    else void this.#beat();
  }

  async #beat(): Promise<void> {
    const { clock, send, health } = this.#deps;
    const now = performance.now();
    const isDue = now - this.#healthAt >= healthEveryMs - this.#everyMs / 2;
    if (isDue) this.#healthAt = now;
    const measured = isDue ? { health: await health() } : {};
    const { offsetMs: clockOffsetMs, roundTripMs } = clock;
    send({ type: 'heartbeat', sentAt: clock.stamp(), clockOffsetMs, roundTripMs, ...measured });
  }
}
