import type { Rocev2ServerConfig } from '@rushhour/protocol';
import { type QueuePair, RdmaNode } from '@rushhour/wire';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { RdmaMeters } from './meters.ts';
import { NodeLoop } from './node-loop.ts';
import { pairOptionsOf, portOf } from './queue-pair-options.ts';
import { allAddresses, deviceOf, RdmaHosts } from './rdma-hosts.ts';

const reportMs = 100;

type Context = EngineContext<Rocev2ServerConfig>;

/** Takes the messages of others, and answers their reads. */
class Rocev2Server implements PreparedEngine {
  readonly #context: Context;
  readonly #hosts: RdmaHosts;
  readonly #node: RdmaNode;
  readonly #loop: NodeLoop;
  readonly #meters: RdmaMeters;
  #reports: NodeJS.Timeout | undefined;

  constructor(context: Context) {
    const { config, samples } = context;
    this.#context = context;
    const addresses = allAddresses(config.listen.map(({ host }) => host));
    const device = deviceOf(addresses[0] as string);
    this.#hosts = new RdmaHosts(context, device, addresses);
    const meters = new RdmaMeters(samples, samples.counter('rocev2.messages'));
    this.#meters = meters;
    // Each answer to a read may have the whole rate: how many will share it is not known.
    const options = pairOptionsOf(config, device, 1);
    const node = new RdmaNode(this.#hosts.carrier, {
      random: Math.random,
      portOf: (localQp) => portOf(undefined, localQp),
      accept: () => {
        let own: QueuePair | undefined;
        const handler = {
          onReady: (pair: QueuePair) => {
            own = pair;
          },
          onComplete: () => {},
          onFail: () => {},
          onLost: () => {
            if (own !== undefined) meters.retire(own);
          },
        };
        return { options, handler };
      },
    });
    this.#node = node;
    this.#loop = new NodeLoop(this.#hosts, node);
  }

  async start(): Promise<void> {
    this.#loop.start();
    this.#reports = setInterval(() => this.#report(), reportMs);
    await aborted(this.#context.signal);
    this.#hosts.network.poll();
    this.#report();
  }

  async close(): Promise<void> {
    clearInterval(this.#reports);
    this.#loop.close();
    await this.#hosts.close();
  }

  #report(): void {
    this.#meters.report(this.#node.pairs, this.#hosts.carrier);
  }
}

export const prepareRocev2Server = async (context: Context): Promise<PreparedEngine> => new Rocev2Server(context);
