import { bfdBytes, copyOf, formatAddress, type Memory, type Packet, type UdpHandler } from '@rushhour/wire';
import type { BfdProfile } from '../routers/profiles.ts';
import type { InstanceOptions, PlaneContext, Router } from '../routers/router.ts';
import { type BfdEcho, bfdEchoPort } from './bfd-echo.ts';
import { BfdIndex } from './bfd-index.ts';
import { BfdInstance, bfdPorts } from './bfd-instance.ts';

/** The BFD sessions on one interface. */
export class BfdSite {
  readonly #context: PlaneContext;
  readonly #index = new BfdIndex();
  readonly #echoes: BfdEcho[] = [];
  /** Sessions over label switched paths, by own discriminator. */
  readonly #paths = new Map<number, (bytes: Uint8Array) => void>();

  constructor(context: PlaneContext) {
    this.#context = context;
  }

  add(options: InstanceOptions<BfdProfile>): BfdInstance {
    const instance = new BfdInstance(options, this.#context, this.#index.sessions.length);
    if (!this.#index.add(instance))
      throw new RangeError(`two BFD sessions between ${instance.address} and ${instance.peer}`);
    return instance;
  }

  /** Packets with that discriminator that belong to no session of two addresses go to `receive`. */
  addPath(discriminator: number, receive: (bytes: Uint8Array) => void): void {
    this.#paths.set(discriminator, receive);
  }

  /** The session of a router with a neighbour. */
  find(address: string, peer: string): BfdInstance | undefined {
    return this.#index.find(address, peer);
  }

  sessionsOf(router: Router): BfdInstance[] {
    return this.#index.sessions.filter((one) => one.router.index === router.index);
  }

  /** Takes the packets of the sessions. */
  listen(): void {
    if (this.#index.sessions.length + this.#paths.size === 0) return;
    const { group } = this.#context.layers;
    for (const port of Object.values(bfdPorts)) group.udp.bind(port, this.#control);
    const echoes = this.#index.sessions.flatMap(({ echo }) => echo ?? []);
    if (echoes.length === 0) return;
    group.udp.bind(bfdEchoPort, this.#echo);
    this.#echoes.push(...echoes);
  }

  /** A frame of the neighbour that a router would forward. */
  forward(memory: Memory, start: number, end: number): boolean {
    return this.#echoes.some((echo) => echo.forward(memory, start, end));
  }

  readonly #control: UdpHandler = {
    onDatagram: (key, _packet, memory, start, end) => {
      const instance = this.#index.of(key);
      if (instance === undefined) return this.#receiveOfPath(memory, start, end);
      instance.receive(memory.bytes, start, end);
      return true;
    },
  };

  #receiveOfPath({ bytes, view }: Memory, start: number, end: number): boolean {
    const receive = end - start < bfdBytes ? undefined : this.#paths.get(view.getUint32(start + 8));
    receive?.(copyOf(bytes, start, end));
    return receive !== undefined;
  }

  /** Own packets come back from the own address; others are for the neighbour that has sent them. */
  readonly #echo: UdpHandler = {
    onDatagram: (key, { ttl }: Packet, memory, start, end) => {
      const [local, source] = [formatAddress(key, 0), formatAddress(key, 4)];
      const payload = copyOf(memory.bytes, start, end);
      const sessions = this.#index.sessions.filter(({ address, echo }) => echo !== undefined && address === local);
      if (source === local) for (const { session } of sessions) session.receiveEcho(payload, performance.now());
      else sessions.find(({ peer }) => peer === source)?.echo?.answer(payload, ttl);
      return sessions.length > 0;
    },
  };
}
