import type { Rocev2ClientConfig } from '@rushhour/protocol';
import { parseAddress, type QueuePair, type QueuePairOptions, RdmaNode } from '@rushhour/wire';
import type { Counter, EngineContext, Samples } from '../../engine.ts';
import { noteUnusedSources } from '../../net/addresses/source-addresses.ts';
import { ClientLifecycle } from '../../net/load/client-lifecycle.ts';
import { LoadDriver } from '../../net/load/load-driver.ts';
import { chooserOf } from '../../net/load/rotation.ts';
import { kernelEventLoop } from '../../net/loop/kernel-event-loop.ts';
import { countError } from '../../net/metrics/count-error.ts';
import { generatorLoadMetrics } from '../../net/metrics/generator-load-metrics.ts';
import { findRoute } from '../../net/packet/route.ts';
import { LoadDrivenClient } from '../load-driven-client.ts';
import { sourceAddressesOf } from '../stream/origins.ts';
import { RdmaMeters } from './meters.ts';
import { NodeLoop } from './node-loop.ts';
import { maxInFlight, pairOptionsOf, pattern, portOf } from './queue-pair-options.ts';
import { RdmaHosts } from './rdma-hosts.ts';

type Context = EngineContext<Rocev2ClientConfig>;

const sweepMs = 100;
const drainMs = 2000;
const minWindow = 4;
const smallPackets = 64;

interface Target {
  readonly address: string;
  readonly weight: number;
  readonly samples: Samples;
}

/** A queue pair and its messages. */
interface Flow {
  readonly target: Target;
  readonly messages: Counter;
  readonly key: Int32Array;
  readonly path: number;
  pair: QueuePair | undefined;
  /** Slots of the load driver, in the order of posting. */
  slots: number[];
  firstUs: number;
  lastUs: number;
  hasTried: boolean;
}

/** Posts messages to all queue pairs in turn. */
class Rocev2Client extends LoadDrivenClient {
  readonly #context: Context;
  readonly #hosts: RdmaHosts;
  readonly #node: RdmaNode;
  readonly #loop: NodeLoop;
  readonly #meters: RdmaMeters;
  readonly #driver: LoadDriver;
  readonly #flows: readonly Flow[];
  readonly #options: QueuePairOptions;
  readonly #depth: number;
  readonly #slotCount: number;
  #position = 0;
  #inFlight = 0;
  #isStarted = false;

  constructor(context: Context, hosts: RdmaHosts, device: string, flows: readonly Flow[]) {
    super();
    const { config, duration, samples } = context;
    this.#context = context;
    this.#hosts = hosts;
    this.#flows = flows;
    const packets = Math.max(1, Math.ceil(config.messageBytes / config.mtu));
    const windowPackets = Math.max(minWindow, Math.floor(maxInFlight / flows.length));
    this.#depth = Math.max(2, Math.floor(smallPackets / packets));
    const maxMessages = Math.max(1, Math.floor(maxInFlight / Math.min(packets, windowPackets)));
    this.#slotCount = Math.min(Math.max(maxMessages, 2), flows.length * this.#depth);
    this.#options = {
      ...pairOptionsOf(config, device, flows.length),
      requester: {
        verb: config.verb,
        messageBytes: config.messageBytes,
        mtu: config.mtu,
        retryUs: config.retryMs * 1000,
        retryCount: config.retryCount,
        windowPackets,
        pattern,
      },
    };
    this.#meters = new RdmaMeters(samples);
    this.#node = new RdmaNode(hosts.carrier, {
      random: Math.random,
      portOf: (localQp) => portOf(config.firstPort, localQp),
    });
    this.#loop = new NodeLoop(hosts, this.#node);
    this.#driver = new LoadDriver({
      duration,
      lag: samples.histogram(generatorLoadMetrics.scheduleLag),
      load: {},
      limit: duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY,
      slots: this.#slotCount,
      createAlarm: (ring) => kernelEventLoop.createAlarm(ring),
      begin: (slot, _intended, now) => this.#post(slot, now),
    });
    this.lifecycle = this.#createLifecycle();
  }

  async start(): Promise<void> {
    await this.lifecycle.run(() => {
      for (const flow of this.#flows) this.#connect(flow);
      this.#loop.start();
    });
    this.#report();
    if (this.#context.duration.mode === 'count') this.#recordFlows();
  }

  changeLoad() {
    return { rejected: 'queue pairs have a rate of bits, which is set before the run' };
  }

  protected override async release(): Promise<void> {
    this.#loop.close();
    await this.#hosts.close();
  }

  #createLifecycle(): ClientLifecycle {
    const { samples, signal } = this.#context;
    return new ClientLifecycle({
      engine: 'rocev2',
      samples,
      signal,
      drivers: [this.#driver],
      sweepMs,
      drainMs,
      sweep: () => this.#report(),
      isDone: () => this.#driver.isExhausted && this.#inFlight === 0,
      isIdle: () => this.#inFlight === 0,
      retire: () => {},
    });
  }

  #connect(flow: Flow): void {
    const { samples } = this.#context;
    const handler = {
      onReady: (pair: QueuePair) => this.#onReady(flow, pair),
      onComplete: (_message: number, beganUs: number, nowUs: number) => this.#onComplete(flow, beganUs, nowUs),
      onFail: (reason: string) => this.#onEnd(flow, reason),
      onLost: (reason: string) => {
        if (!this.lifecycle.isEnding || reason !== 'disconnected') countError(samples, 'rocev2', reason);
        this.#onEnd(flow, undefined);
        this.#begin(flow);
      },
    };
    this.#node.connect(flow.key, flow.path, { options: this.#options, handler });
  }

  #onReady(flow: Flow, pair: QueuePair): void {
    flow.pair = pair;
    for (const _ of flow.slots) pair.requester?.post();
    this.#begin(flow);
  }

  /** Messages begin once every queue pair has tried to connect. */
  #begin(tried: Flow): void {
    tried.hasTried = true;
    if (this.#isStarted || this.#flows.some(({ hasTried }) => !hasTried)) return;
    this.#isStarted = true;
    for (let slot = 0; slot < this.#slotCount; slot++) this.#driver.offer(slot, performance.now());
    this.#driver.start();
  }

  #post(slot: number, now: number): void {
    this.#inFlight++;
    const flow = this.#nextFlow();
    flow.slots.push(slot);
    if (Number.isNaN(flow.firstUs)) flow.firstUs = now * 1000;
    flow.pair?.requester?.post();
    this.#loop.schedule();
  }

  /** The next one with room; there is always one unless connections are lost. */
  #nextFlow(): Flow {
    const flows = this.#flows;
    for (let tried = 0; tried < flows.length; tried++) {
      this.#position = (this.#position + 1) % flows.length;
      const flow = flows[this.#position] as Flow;
      if (flow.pair !== undefined && flow.slots.length < this.#depth) return flow;
    }
    return flows[this.#position] as Flow;
  }

  #onComplete(flow: Flow, beganUs: number, nowUs: number): void {
    flow.messages.add(1);
    flow.target.samples.histogram('rocev2.latency').record(nowUs - beganUs);
    flow.lastUs = nowUs;
    this.#settle(flow.slots.shift() as number);
  }

  /** A queue pair in error is replaced; its messages are lost. */
  #onEnd(flow: Flow, failure: string | undefined): void {
    const { pair, slots } = flow;
    if (failure !== undefined) countError(flow.target.samples, 'rocev2', failure);
    flow.pair = undefined;
    flow.slots = [];
    if (pair !== undefined) {
      this.#meters.retire(pair);
      if (failure !== undefined) this.#node.drop(pair);
    }
    if (!this.lifecycle.isEnding) this.#connect(flow);
    for (const slot of slots) this.#settle(slot);
  }

  #settle(slot: number): void {
    this.#inFlight--;
    this.#driver.offer(slot, performance.now());
    this.lifecycle.settle();
  }

  #report(): void {
    this.#meters.report(this.#node.pairs, this.#hosts.carrier);
  }

  #recordFlows(): void {
    const completion = this.#context.samples.histogram('rocev2.completion');
    for (const { firstUs, lastUs } of this.#flows) if (lastUs > firstUs) completion.record(lastUs - firstUs);
  }
}

const keyOf = (source: string, destination: string): Int32Array => {
  const key = new Int32Array(8);
  key.set(parseAddress(source), 0);
  key.set(parseAddress(destination), 4);
  return key;
};

export const prepareRocev2Client = async (context: Context): Promise<LoadDrivenClient> => {
  const { config, samples } = context;
  const targets = config.targets.map(({ host, weight }): Target => {
    return { address: context.addressOf(host), weight, samples: samples.target(host) };
  });
  const versions = new Set(targets.map(({ address }) => address.includes(':')));
  if (versions.size > 1) throw new RangeError('targets mix IPv4 and IPv6 addresses');
  const route = await findRoute((targets[0] as Target).address);
  if (route.isLoopback) throw new RangeError('RoCEv2 needs an interface with Ethernet: the target is this machine');
  const addresses = sourceAddressesOf(config.sources, versions.has(true) ? 6 : 4, route.source);
  noteUnusedSources(context.note, { available: addresses.length, used: config.queuePairs, per: 'queue pair' });
  const used = addresses.slice(0, config.queuePairs);
  const hosts = new RdmaHosts(context, route.device, used);
  const choose = chooserOf(targets, config.rotation);
  const flows = Array.from({ length: config.queuePairs }, (_, index): Flow => {
    const target = choose(index);
    const source = used[index % used.length] as string;
    return {
      target,
      messages: target.samples.counter('rocev2.messages'),
      key: keyOf(source, target.address),
      path: hosts.network.layers.hostOf(parseAddress(source)),
      pair: undefined,
      slots: [],
      firstUs: Number.NaN,
      lastUs: Number.NaN,
      hasTried: false,
    };
  });
  try {
    return new Rocev2Client(context, hosts, route.device, flows);
  } catch (error) {
    await hosts.close();
    throw error;
  }
};
