import type { Samples } from '../engine.ts';
import type { Stack } from './stack.ts';
import { Tunnels } from './tunnels/tunnels.ts';

const sampleMs = 200;

/** Sum of a counter over all tunnels. */
type TunnelCounter = 'sentPackets' | 'receivedPackets' | 'sentBytes' | 'receivedBytes';

/** Writes counters of emulated hosts and tunnels into the metrics of their job. */
export class StackMeters {
  readonly #stack: Stack;
  readonly #samples: Samples;
  readonly #timer: NodeJS.Timeout;
  /** Values already added, by name. */
  readonly #added = new Map<string, number>();
  /** Tunnels whose setup time is recorded. */
  readonly #setUp = new Set<number>();
  #dropped = 0;

  constructor(stack: Stack, samples: Samples) {
    this.#stack = stack;
    this.#samples = samples;
    samples.gauge('stack.hosts').set(stack.isSpeaker ? stack.hosts.count : 0);
    this.#timer = setInterval(() => this.#sample(), sampleMs);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#sample();
  }

  #sample(): void {
    const { port, outer, group, receivedFrames } = this.#stack;
    this.#dropped += port.takeDrops();
    this.#raise('stack.txFrames', port.sentFrames);
    this.#raise('stack.rxFrames', receivedFrames);
    this.#raise('stack.dropped', this.#dropped + port.sendErrors);
    this.#raise('stack.neighbours', outer.neighbours?.counters.resolved ?? 0);
    this.#raise('stack.neighbourFailures', outer.neighbours?.counters.failed ?? 0);
    this.#raise('stack.retransmits', group.tcp.counters.retransmits);
    this.#sampleTunnels();
  }

  #sampleTunnels(): void {
    const { tunnels } = this.#stack;
    // IPsec has metrics of its own.
    if (!(tunnels instanceof Tunnels)) return;
    let up = 0;
    for (let index = 0; index < tunnels.tunnels.length; index++) {
      const { isUp, setupMs } = tunnels.stateOf(index);
      if (isUp) up++;
      if (setupMs === undefined || this.#setUp.has(index)) continue;
      this.#setUp.add(index);
      this.#samples.histogram('tunnel.setup').record(setupMs * 1000);
    }
    this.#samples.gauge('tunnel.count').set(tunnels.tunnels.length);
    this.#samples.gauge('tunnel.up').set(up);
    const sum = (name: TunnelCounter) => tunnels.tunnels.reduce((all, { counters }) => all + counters[name], 0);
    this.#raise('tunnel.txPackets', sum('sentPackets'));
    this.#raise('tunnel.rxPackets', sum('receivedPackets'));
    this.#raise('tunnel.txBytes', sum('sentBytes'));
    this.#raise('tunnel.rxBytes', sum('receivedBytes'));
    if (tunnels.gtp !== undefined) {
      const { responses, lost, down } = tunnels.gtp.counters;
      this.#raise('tunnel.echoes', responses);
      this.#raise('tunnel.echoesLost', lost);
      this.#raise('tunnel.pathsDown', down);
    }
    for (const [cause, count] of Object.entries(tunnels.errors()))
      if (count > 0) this.#raise(`tunnel.errors.${cause}`, count);
  }

  /** Brings a counter up to a value. */
  #raise(name: string, value: number): void {
    this.#samples.counter(name).add(value - (this.#added.get(name) ?? 0));
    this.#added.set(name, value);
  }
}
