import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamClientConfig } from '@rushhour/protocol';
import type { Counter, EngineContext, LoadChange, LoadChangeable, Pausable, PreparedEngine } from '../../engine.ts';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import { setV8WorkersIdle } from '../../net/kernel/v8-workers.ts';
import { changePace, rampsOf } from '../../net/load/load-driver.ts';
import { LoadProfile, segmentsOf } from '../../net/load/load-profile.ts';
import { Pacer } from '../../net/load/pacer.ts';
import { payloadBytes } from '../../net/load/payload.ts';
import { chooserOf } from '../../net/load/rotation.ts';
import { aborted } from '../../net/loop/aborted.ts';
import type { Alarm } from '../../net/loop/alarm.ts';
import { kernelEventLoop } from '../../net/loop/kernel-event-loop.ts';
import { generatorLoadMetrics } from '../../net/metrics/generator-load-metrics.ts';
import type { Layer } from '../../net/packet/frame/layer.ts';
import type { TimedFrameSlots } from '../../net/packet/tx-path.ts';
import { WallClock } from '../../net/packet/wall-clock.ts';
import { type StreamClientMetrics, streamMetrics } from './client-metrics.ts';
import { Composer } from './composer.ts';
import type { FrameOutput } from './fragment-sender.ts';
import { openOutput } from './frame-output.ts';
import { layersOf } from './headers.ts';
import { changingFields, portsOf } from './origins.ts';
import { planSizes, type SizePlan } from './sizes.ts';
import { prepareStreamPath, type StreamPath } from './stream-path.ts';

/** `sender`: sender number in the signatures; random by default. `metrics`: names of metrics. */
type Context = EngineContext<StreamClientConfig> & { readonly sender?: number; readonly metrics?: StreamClientMetrics };

const askFirstMs = 1000;
const askAtStartMs = 3000;
const sliceMs = 1;
const gaugeMs = 100;
const downRetryMs = 5;
// Larger batches would be evicted from the nearer caches before they are sent.
const maxBatch = 1024;
// How long in advance frames are handed to a clocked TX path, unless the rate is low.
const aheadMs = 100;
const fewPerSecond = 2000;
const warmUpRounds = { rounds: 8, pauseMs: 10 } as const;
let isWarmedUp = false;

/** Sends the frames of all streams at the configured rate. */
class StreamClient implements PreparedEngine, Pausable, LoadChangeable {
  readonly #context: Context;
  readonly #path: StreamPath;
  readonly #sizes: SizePlan;
  readonly #sender: FrameOutput;
  readonly #clock = new WallClock();
  readonly #pacer: Pacer | undefined;
  readonly #again: Alarm;
  readonly #done = Promise.withResolvers<void>();
  readonly #sent: readonly { readonly frames: Counter; readonly bytes: Counter }[];
  readonly #counters;
  readonly #limit: number;
  #composer: Composer | undefined;
  #gauges: NodeJS.Timeout | undefined;
  /** Range of slots that are written but not sent. */
  #first = 0;
  #filled = 0;
  #issued = 0;
  #isPaused = false;
  #isOver = false;
  /** The interface accepts no frames until the alarm fires. */
  #isWaiting = false;
  #isLoopOwed = false;
  #rouseHelpers = () => {};

  constructor(context: Context, path: StreamPath) {
    const { config, duration, samples, metrics = streamMetrics } = context;
    this.#context = context;
    this.#path = path;
    this.#sizes = planSizes(config.sizes);
    this.#limit = duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY;
    this.#pacer = this.#createPacer();
    this.#again = kernelEventLoop.createAlarm(() => this.#sendDue(performance.now()));
    this.#counters = {
      queueFull: samples.counter(metrics.queueFull),
      linkDown: samples.counter(metrics.linkDown),
      dropped: samples.counter(metrics.dropped),
      streams: samples.gauge(metrics.streams),
    };
    this.#sent = config.targets.map(({ host, port }) => {
      const own = samples.target(`${host}:${port}`);
      return { frames: own.counter(metrics.sent), bytes: own.counter(metrics.txBytes) };
    });
    const { device } = path;
    this.#sender = openOutput(context, { device, sizes: this.#sizes, layers: this.#layers(0, Buffer.alloc(6)) });
  }

  /** Called when all next hops are resolved, so that the start has no delay. */
  async makeReady(): Promise<void> {
    this.#composer = this.#createComposer();
    await this.#warmUp();
  }

  /** Warms up the JIT before the start, because clocked sending needs microsecond precision. */
  async #warmUp(): Promise<void> {
    const { timedSlots: clocked } = this.#sender;
    if (this.#pacer === undefined || clocked === undefined || isWarmedUp) return;
    isWarmedUp = true;
    const composer = this.#createComposer();
    for (let round = 0; round < warmUpRounds.rounds; round++) {
      for (let slot = 0; slot < clocked.count; slot++) clocked.setDue(slot, 0);
      composer.compose(0, clocked.count, this.#clock);
      await sleep(warmUpRounds.pauseMs);
    }
  }

  async start(): Promise<void> {
    const { signal } = this.#context;
    if (signal.aborted) return;
    if (this.#composer === undefined) {
      await Promise.race([this.#path.resolve(askAtStartMs), aborted(signal)]);
      // Throws for unresolved next hops even when aborted: a run without frames must not look like a result.
      this.#composer = this.#createComposer();
      if (signal.aborted) return;
    }
    this.#counters.streams.set(this.#context.config.streams);
    // On a single core, background compilation of V8 would delay clocked sending by milliseconds.
    const isClocked = this.#pacer !== undefined && this.#sender.timedSlots !== undefined;
    if (isClocked && availableParallelism() === 1) this.#rouseHelpers = setV8WorkersIdle();
    signal.addEventListener('abort', () => this.#end(), { once: true });
    this.#gauges = setInterval(() => this.#reportLoad(), gaugeMs);
    if (this.#pacer === undefined) this.#again.set(0);
    else this.#pacer.start();
    if (this.#isPaused) this.pause();
    await this.#done.promise;
  }

  pause(): void {
    this.#isPaused = true;
    this.#pacer?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#pacer?.resume();
    this.#again.set(0);
  }

  changeLoad({ packetsPerSecond }: LoadChange): { readonly rejected?: string } {
    if (packetsPerSecond === undefined) return { rejected: 'stream has a rate of packets only' };
    if (this.#pacer === undefined) return { rejected: 'this run has no rate of packets' };
    changePace(this.#pacer, packetsPerSecond, this.#context.duration);
    return {};
  }

  async close(): Promise<void> {
    this.#end();
    this.#path.close();
    this.#sender.close();
    kernelEventLoop.release();
  }

  #reportLoad(): void {
    const { samples, metrics = streamMetrics } = this.#context;
    if (this.#pacer === undefined) return;
    samples.gauge(metrics.targetLoad).set(this.#pacer.rate);
    samples.gauge(generatorLoadMetrics.overdue).set(this.#pacer.overdueCount + this.#filled - this.#first);
  }

  #createPacer(): Pacer | undefined {
    const { config, duration, samples } = this.#context;
    const { rate, initialRate, rampStep } = config.load;
    if (rate === undefined) return undefined;
    const pps = (options: number) => this.#path.ratePps(options, this.#sizes);
    const options = {
      rate: pps(rate),
      ...(initialRate !== undefined && { initialRate: pps(initialRate) }),
      ...(rampStep !== undefined && { rampStep: pps(rampStep) }),
    };
    return new Pacer({
      profile: new LoadProfile(segmentsOf(options, rampsOf(duration))),
      lag: samples.histogram(generatorLoadMetrics.scheduleLag),
      createAlarm: (ring) => kernelEventLoop.createAlarm(ring),
      onDue: (now) => this.#sendDue(now),
    });
  }

  /** Rejects frame sizes that do not fit. */
  #layers(target: number, nextHopMac: Uint8Array): Layer[] {
    const { config, addressOf } = this.#context;
    const { host, port } = config.targets[target] as StreamClientConfig['targets'][number];
    return layersOf(config.headers, {
      sourceMac: this.#path.hostMacs.of(config.headers.tunnel?.source ?? (this.#path.addresses[0] as string)),
      nextHopMac,
      source: this.#path.addresses[0] as string,
      destination: addressOf(host),
      ports: { source: portsOf(config.sources.portRange)(0), destination: port },
    });
  }

  #createComposer(): Composer {
    const { config } = this.#context;
    const { vlan, mpls, protocol, tunnel } = config.headers;
    const targets = config.targets.map((_, index) => this.#layers(index, this.#path.nextHopMac(index)));
    const [tag, label] = [vlan[0], mpls[0]];
    const { hostMacs } = this.#path;
    const addresses = this.#path.addresses.slice(0, config.streams);
    const fields = changingFields({
      addresses,
      // Through a tunnel all frames come from its end.
      macs: hostMacs.hasOthers && tunnel === undefined ? addresses.map((address) => hostMacs.of(address)) : [],
      portOf: portsOf(config.sources.portRange),
      hasPorts: protocol !== 'none',
      streams: config.streams,
      modifiers: config.modifiers,
      fixed: {
        destinationMac: this.#path.nextHopMac(0).readUInt32BE(2),
        sourceMac: hostMacs.of(addresses[0] as string).readUInt32BE(2),
        vlan: tag === undefined ? 0 : (tag.priority << 13) | tag.id,
        mplsLabel:
          label === undefined
            ? 0
            : label.label * 4096 + (label.trafficClass << 9) + (mpls.length === 1 ? 256 : 0) + label.ttl,
        destinationPort: config.targets[0]?.port ?? 0,
      },
    });
    const weighted = config.targets.map(({ weight }, index) => ({ index, weight }));
    const choose = chooserOf(weighted, config.rotation === 'random' ? 'random' : 'roundRobin');
    return new Composer({
      slots: this.#sender.slots,
      clocked: this.#sender.timedSlots,
      targets,
      targetOf: (stream) => choose(stream).index,
      fields,
      sizes: this.#sizes,
      streams: config.streams,
      fill: fillOf(config),
      sender: this.#context.sender ?? randomInt(65_536),
      hasWrongChecksums: config.hasWrongChecksums,
    });
  }

  #sendDue(now: number): void {
    if (this.#isOver) return;
    if (this.#isLoopOwed) {
      this.#again.set(0);
      return;
    }
    try {
      const isBehind = this.#work(now);
      if (this.#issued >= this.#limit && this.#first === this.#filled) this.#end();
      else if (isBehind || (this.#pacer === undefined && !this.#isPaused && !this.#isWaiting)) this.#again.set(0);
    } catch (error) {
      this.#isOver = true;
      this.#done.reject(error);
    }
  }

  /** Sends due frames for one time slice; true when more may be due. */
  #work(now: number): boolean {
    if (this.#composer === undefined) return false;
    this.#isWaiting = false;
    const end = performance.now() + sliceMs;
    do {
      this.#fill(now);
      if (this.#first === this.#filled || !this.#flush()) return false;
    } while (performance.now() < end);
    // A clocked TX path blocks for long: yield to the event loop before the next call.
    if (this.#sender.timedSlots !== undefined) {
      this.#isLoopOwed = true;
      setImmediate(() => {
        this.#isLoopOwed = false;
      });
    }
    return true;
  }

  /** Writes due frames; on a clocked TX path, also in advance behind pending ones. */
  #fill(now: number): void {
    const { slots, timedSlots: clocked } = this.#sender;
    const isAhead = clocked !== undefined && (this.#pacer?.rate ?? 0) >= fewPerSecond;
    if (this.#first < this.#filled && !isAhead) return;
    if (this.#first === this.#filled) {
      this.#first = 0;
      this.#filled = 0;
    }
    const from = this.#filled;
    const until = isAhead ? performance.now() + aheadMs : now;
    const max = Math.min(isAhead ? slots.count : from + maxBatch, slots.count, from + this.#limit - this.#issued);
    if (this.#pacer === undefined) this.#filled = this.#isPaused ? from : max;
    else this.#fillDue(this.#pacer, { max, until, clocked: isAhead ? clocked : undefined });
    this.#issued += this.#filled - from;
    this.#clock.read(performance.now());
    this.#composer?.compose(from, this.#filled, this.#clock);
  }

  /** Assigns due times to slots. Old times in the slots have passed and are harmless. */
  #fillDue(pacer: Pacer, options: { max: number; until: number; clocked: TimedFrameSlots | undefined }): void {
    while (this.#filled < options.max) {
      const due = pacer.takeDue(options.until);
      if (Number.isNaN(due)) return;
      options.clocked?.setDue(this.#filled, due);
      this.#filled++;
    }
  }

  /** False when the interface accepts no more frames for now. */
  #flush(): boolean {
    const { taken, lost, refused } = this.#sender.send(this.#first, this.#filled);
    this.#count(this.#first, this.#first + taken - lost);
    this.#first += taken;
    if (refused === undefined) return true;
    if (refused === 'full') {
      this.#counters.queueFull.add(Math.max(1, lost));
      this.#wait(0);
      return false;
    }
    // Frames due while the link is down are lost, as they would be in the network.
    this.#counters.linkDown.add(lost + this.#filled - this.#first);
    this.#context.note(`the link of ${this.#path.device.name} was down: frames that were due then were not sent`);
    this.#first = this.#filled;
    this.#wait(performance.now() + downRetryMs);
    return false;
  }

  #wait(until: number): void {
    this.#isWaiting = true;
    this.#again.set(until);
  }

  #count(first: number, end: number): void {
    const composer = this.#composer as Composer;
    if (this.#sent.length === 1 && this.#sizes.sizes.length === 1) {
      if (end > first) this.#countFor(0, end - first, (end - first) * composer.lengthAt(first));
      return;
    }
    for (let slot = first; slot < end; slot++) this.#countFor(composer.targetAt(slot), 1, composer.lengthAt(slot));
  }

  #countFor(target: number, frames: number, bytes: number): void {
    const counters = this.#sent[target];
    counters?.frames.add(frames);
    counters?.bytes.add(bytes);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const now = performance.now();
    try {
      // Frames that became due since the last check are still sent.
      if (!this.#isPaused && this.#pacer !== undefined) this.#work(now);
    } catch (error) {
      this.#done.reject(error);
    }
    const left = this.#limit - this.#issued;
    this.#counters.dropped.add(this.#filled - this.#first + Math.min(left, this.#pacer?.overdue(now) ?? 0));
    this.#pacer?.stop();
    this.#again.cancel();
    clearInterval(this.#gauges);
    this.#rouseHelpers();
    this.#done.resolve();
  }
}

const fillOf = ({ fill }: StreamClientConfig): Uint8Array => {
  const bytes = payloadBytes(fill);
  return bytes.length === 0 ? Buffer.alloc(1) : bytes;
};

export const prepareStreamClient = async (context: Context): Promise<PreparedEngine & Pausable & LoadChangeable> => {
  epollPoller();
  kernelEventLoop.acquire();
  let path: StreamPath | undefined;
  let client: StreamClient | undefined;
  try {
    path = await prepareStreamPath(context);
    client = new StreamClient(context, path);
    // Targets may start later: next hops are resolved again at the start.
    if (await path.resolve(askFirstMs)) await client.makeReady();
    return client;
  } catch (error) {
    if (client !== undefined) await client.close();
    else {
      path?.close();
      kernelEventLoop.release();
    }
    throw error;
  }
};
