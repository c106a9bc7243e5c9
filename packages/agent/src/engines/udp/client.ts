import { randomInt } from 'node:crypto';
import { type UdpClientConfig, udpHeaderBytes } from '@rushhour/protocol';
import type { Counter, EngineContext, LoadChange, Samples } from '../../engine.ts';
import { noteUnusedSources, prepareSources, type SourcePool } from '../../net/addresses/source-addresses.ts';
import { createDatagramTransport } from '../../net/data-path.ts';
import type { DatagramEvents, DatagramSocket, DatagramTransport } from '../../net/datagram/datagram-transport.ts';
import { ClientLifecycle } from '../../net/load/client-lifecycle.ts';
import { DrawnTexts } from '../../net/load/drawn-texts.ts';
import { LoadDriver } from '../../net/load/load-driver.ts';
import { chooserOf } from '../../net/load/rotation.ts';
import { countError } from '../../net/metrics/count-error.ts';
import { generatorLoadMetrics } from '../../net/metrics/generator-load-metrics.ts';
import { changeRate, LoadDrivenClient } from '../load-driven-client.ts';
import { writeStamp } from './packet.ts';
import { Receiver } from './receiver.ts';

type Context = EngineContext<UdpClientConfig>;

// Packets of a flow that may be pending in the kernel.
const slotsPerFlow = 32;

interface Endpoint {
  readonly address: string;
  readonly port: number;
  readonly samples: Samples;
}

/** A socket with its own sequence numbers. */
class Flow implements DatagramEvents {
  readonly samples: Samples;
  socket: DatagramSocket | undefined;
  readonly #id = randomInt(2 ** 32);
  readonly #bytes: Buffer;
  readonly #nextText: (() => string | undefined) | undefined;
  #textEnd = udpHeaderBytes;
  readonly #sent: Counter;
  readonly #txBytes: Counter;
  readonly #receiver: Receiver | undefined;
  readonly #onSettled: (slot: number, now: number) => void;
  #sequence = 0;

  constructor(
    config: UdpClientConfig,
    samples: Samples,
    { onSettled, nextText }: { onSettled: Flow['onSent']; nextText: (() => string | undefined) | undefined },
  ) {
    this.samples = samples;
    this.#nextText = nextText;
    this.#bytes = Buffer.alloc(config.payloadBytes);
    this.#sent = samples.counter('udp.sent');
    this.#txBytes = samples.counter('udp.txBytes');
    this.#receiver = config.expectsEcho ? new Receiver(samples, 'udp.rtt') : undefined;
    this.#onSettled = onSettled;
  }

  /** False when the dictionary has nothing left for this flow. */
  send(slot: number, now: number): boolean {
    if (this.#nextText !== undefined && !this.#fill(this.#nextText())) return false;
    writeStamp(this.#bytes, this.#id, this.#sequence++, performance.timeOrigin + now);
    this.socket?.send(this.#bytes, slot);
    return true;
  }

  #fill(text: string | undefined): boolean {
    if (text === undefined) return false;
    const end = udpHeaderBytes + this.#bytes.write(text, udpHeaderBytes);
    if (end < this.#textEnd) this.#bytes.fill(0, end, this.#textEnd);
    this.#textEnd = end;
    return true;
  }

  onSent(slot: number, now: number): void {
    this.#sent.add(1);
    this.#txBytes.add(this.#bytes.length);
    this.#onSettled(slot, now);
  }

  onFail(slot: number, code: string): void {
    countError(this.samples, 'udp', code);
    this.#onSettled(slot, performance.now());
  }

  onError(code: string): void {
    countError(this.samples, 'udp', code);
  }

  onMessage(datagram: Parameters<DatagramEvents['onMessage']>[0]): void {
    this.#receiver?.arrive(datagram);
  }
}

/** Sends sequenced packets at the configured rate and counts echoed ones. */
class UdpClient extends LoadDrivenClient {
  readonly #sources: SourcePool;
  readonly #flows: readonly Flow[];
  readonly #driver: LoadDriver;
  readonly #datagrams: DatagramTransport;
  #inFlight = 0;

  constructor(context: Context, sources: SourcePool, endpoints: readonly Endpoint[]) {
    super();
    const { config, duration, samples } = context;
    this.#sources = sources;
    this.#datagrams = createDatagramTransport({
      path: config.dataPath,
      note: context.note,
      hostNetwork: context.hostNetwork,
    });
    const drawn = config.drawn && new DrawnTexts(config.drawn, config.flows);
    const onSettled = (slot: number, now: number) => this.#settle(slot, now);
    this.#flows = endpoints.map(
      ({ samples: own }, flow) => new Flow(config, own, { onSettled, nextText: drawn && (() => drawn.next(flow)) }),
    );
    this.#driver = new LoadDriver({
      duration,
      lag: samples.histogram(generatorLoadMetrics.scheduleLag),
      load: config.load,
      limit: duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY,
      createAlarm: this.#datagrams.createAlarm,
      begin: (slot, _, now) => this.#send(slot, now),
    });
    this.lifecycle = new ClientLifecycle({
      engine: 'udp',
      samples,
      signal: context.signal,
      drivers: [this.#driver],
      sweepMs: 100,
      drainMs: config.expectsEcho ? config.lingerMs : 200,
      sweep: () => {},
      isDone: () => (this.#driver.isExhausted || drawn?.areSpent === true) && this.#inFlight === 0,
      // Echoes are accepted until the linger time is over.
      isIdle: () => this.#inFlight === 0 && !config.expectsEcho,
      retire: () => {},
    });
  }

  async open(context: Context, endpoints: readonly Endpoint[]): Promise<void> {
    const { payloadBytes: bytes } = context.config;
    const options = {
      sendBatch: { count: slotsPerFlow, bytes },
      receiveBufferBytes: 0,
    };
    for (const [index, flow] of this.#flows.entries()) {
      const { address, port } = endpoints[index] as Endpoint;
      const route = { address, port, ...this.#sources.next(index) };
      flow.socket = await this.#datagrams.connect(route, options, flow);
    }
  }

  start(): Promise<void> {
    return this.lifecycle.run(() => {
      // Round robin over the flows, so that none runs ahead.
      for (let slot = 0; slot < slotsPerFlow; slot++) {
        for (let flow = 0; flow < this.#flows.length; flow++)
          this.#driver.offer(flow * slotsPerFlow + slot, performance.now());
      }
      this.#driver.start();
    });
  }

  changeLoad(change: LoadChange) {
    return changeRate(change, { engine: 'udp', member: 'packetsPerSecond', noun: 'packets', driver: this.#driver });
  }

  protected override async release(): Promise<void> {
    await this.#datagrams.close();
    await this.#sources.close();
  }

  #send(slot: number, now: number): void {
    this.#inFlight++;
    if ((this.#flows[Math.floor(slot / slotsPerFlow)] as Flow).send(slot, now)) return;
    this.#inFlight--;
    this.lifecycle.settle();
  }

  #settle(slot: number, now: number): void {
    this.#inFlight--;
    this.#driver.offer(slot, now);
    this.lifecycle.settle();
  }
}

export const prepareUdpClient = async (context: Context): Promise<LoadDrivenClient> => {
  const { config, samples } = context;
  const sources = await prepareSources(config.sources, { ...context, reportsUse: false });
  const targets = config.targets.map((target) => ({
    address: context.addressOf(target.host),
    port: target.port,
    weight: target.weight,
    samples: samples.target(`${target.host}:${target.port}`),
  }));
  const choose = chooserOf(targets, config.rotation);
  const endpoints = Array.from({ length: config.flows }, (_, index) => choose(index));
  noteUnusedSources(context.note, { available: sources.count, used: config.flows, per: 'flow' });
  const client = new UdpClient(context, sources, endpoints);
  try {
    await client.open(context, endpoints);
  } catch (error) {
    await client.close();
    throw error;
  }
  return client;
};
