import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import type { UdpClientConfig } from '@rushhour/protocol';
import type { Counter, EngineContext, LoadChange, LoadChangeable, Pausable, Run, Samples } from '../../engine.ts';
import { ClientLife } from '../../net/client-life.ts';
import { codeOf, countError } from '../../net/error-kind.ts';
import { LoadDriver } from '../../net/load-driver.ts';
import { chooserOf } from '../../net/rotation.ts';
import { prepareSources, type SourcePool } from '../../net/source-addresses.ts';
import { strainMetrics } from '../../net/strain-metrics.ts';
import { Turns } from '../../net/turns.ts';
import { wallClock, writeStamp } from './packet.ts';
import { Receiver } from './receiver.ts';

type Context = EngineContext<UdpClientConfig>;

// Packets of a flow that the system may not have taken yet; each has its own bytes.
const placesPerFlow = 32;
const packetsPerTurn = 128;

interface Flow {
  readonly socket: Socket;
  readonly id: number;
  readonly samples: Samples;
  readonly sent: Counter;
  readonly txBytes: Counter;
  readonly packets: readonly Buffer[];
  sequence: number;
}

const openFlow = async (
  context: Context,
  index: number,
  way: { address: string; port: number; samples: Samples },
  sources: SourcePool,
): Promise<Flow> => {
  const { config } = context;
  const { address, port, samples } = way;
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  const { localAddress, localPort } = sources.next(index);
  socket.bind({ ...(localAddress && { address: localAddress }), ...(localPort && { port: localPort }) });
  await once(socket, 'listening');
  socket.connect(port, address);
  await once(socket, 'connect');
  socket.on('error', (error) => countError(samples, 'udp', codeOf(error)));
  return {
    socket,
    id: randomInt(2 ** 32),
    samples,
    sent: samples.counter('udp.sent'),
    txBytes: samples.counter('udp.txBytes'),
    packets: Array.from({ length: placesPerFlow }, () => Buffer.alloc(config.payloadBytes)),
    sequence: 0,
  };
};

/** Sends numbered packets at the ordered rate and, when they are sent back, counts what returns. */
class UdpClient implements Run, Pausable, LoadChangeable {
  readonly #sources: SourcePool;
  readonly #flows: readonly Flow[];
  readonly #driver: LoadDriver;
  readonly #life: ClientLife;
  readonly #turns = new Turns(packetsPerTurn);
  #underWay = 0;

  constructor(context: Context, sources: SourcePool, flows: readonly Flow[]) {
    const { config, duration, samples } = context;
    this.#sources = sources;
    this.#flows = flows;
    this.#driver = new LoadDriver({
      duration,
      lag: samples.histogram(strainMetrics.scheduleLag),
      load: config.load,
      limit: duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY,
      begin: (place) => this.#send(place),
    });
    this.#life = new ClientLife({
      engine: 'udp',
      samples,
      signal: context.signal,
      drivers: [this.#driver],
      sweepMs: 100,
      drainMs: config.expectsEcho ? config.lingerMs : 200,
      sweep: () => {},
      isDone: () => this.#driver.isExhausted && this.#underWay === 0,
      // Echoes may come until the time for late ones is over.
      isIdle: () => this.#underWay === 0 && !config.expectsEcho,
      retire: () => {},
    });
    if (config.expectsEcho) this.#listen();
  }

  start(): Promise<void> {
    return this.#life.run(() => {
      // In turn over the flows, so that none runs ahead.
      for (let place = 0; place < placesPerFlow; place++) {
        for (let flow = 0; flow < this.#flows.length; flow++)
          this.#driver.offer(flow * placesPerFlow + place, performance.now());
      }
      this.#driver.start();
    });
  }

  pause(): void {
    this.#life.pause();
  }

  resume(): void {
    this.#life.resume();
  }

  changeLoad({ packetsPerSecond }: LoadChange): { readonly rejected?: string } {
    if (packetsPerSecond === undefined) return { rejected: 'udp has a rate of packets only' };
    return this.#driver.changeRate(packetsPerSecond) ? {} : { rejected: 'this run has no rate of packets' };
  }

  async close(): Promise<void> {
    this.#life.close();
    for (const { socket } of this.#flows) socket.close();
    await this.#sources.close();
  }

  #send(place: number): void {
    const flow = this.#flows[Math.floor(place / placesPerFlow)] as Flow;
    const bytes = flow.packets[place % placesPerFlow] as Buffer;
    writeStamp(bytes, flow.id, flow.sequence++, wallClock());
    this.#underWay++;
    flow.socket.send(bytes, (error) => {
      this.#underWay--;
      if (error) countError(flow.samples, 'udp', codeOf(error));
      else {
        flow.sent.add(1);
        flow.txBytes.add(bytes.length);
      }
      this.#turns.pass(() => this.#driver.offer(place, performance.now()));
      this.#life.settle();
    });
  }

  #listen(): void {
    for (const { socket, samples } of this.#flows) {
      const receiver = new Receiver(samples, 'udp.rtt');
      socket.on('message', (bytes, from) => void receiver.arrive(bytes, from));
    }
  }
}

export const prepareUdpClient = async (context: Context): Promise<Run & Pausable & LoadChangeable> => {
  const { config, samples } = context;
  const sources = await prepareSources(config.sources, context);
  const ways = config.targets.map((target) => ({
    address: context.addressOf(target.host),
    port: target.port,
    weight: target.weight,
    samples: samples.target(`${target.host}:${target.port}`),
  }));
  const choose = chooserOf(ways, config.rotation);
  const flows: Flow[] = [];
  try {
    for (let index = 0; index < config.flows; index++) {
      flows.push(await openFlow(context, index, choose(index), sources));
    }
  } catch (error) {
    for (const { socket } of flows) socket.close();
    await sources.close();
    throw error;
  }
  return new UdpClient(context, sources, flows);
};
