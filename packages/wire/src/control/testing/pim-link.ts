import { createRandom } from '../../testing/random.ts';
import { compareAddresses, bytesOfAddress as ip, textOfAddress } from '../address-bytes.ts';
import { findPimMessage, type PimEnds, type PimMessage } from '../pim/message.ts';
import type { PimOptions } from '../pim/options.ts';
import { type PimEvents, PimRouter } from '../pim/router.ts';

export const ends4: PimEnds = { addresses: new Int32Array(8), isV6: false };
export const groupOf = (text: string, bits = 32) => ({ address: ip(text), bits, isBidirectional: false });

const options: PimOptions = {
  address: ip('10.0.0.1'),
  mode: 'sparse',
  helloSec: 30,
  holdSec: 105,
  drPriority: 1,
  propagationMs: 500,
  overrideMs: 2500,
  sendsGenerationId: true,
  rendezvous: { kind: 'static', bootstrapPriority: 0 },
  joins: { periodSec: 60, firstGroup: ip('239.0.0.1'), groupCount: 0, sources: [] },
  registers: { perSec: 0, isNull: true },
  maxBytes: 1400,
  random: createRandom(1),
};

/** Routers on one link, and a clock. */
export class PimLink {
  now = 0;
  readonly routers: PimRouter[] = [];
  readonly sent: { readonly from: number; readonly at: number; readonly message: PimMessage; readonly to: string }[] =
    [];
  readonly events: string[] = [];
  readonly isCut = new Set<number>();
  readonly #addresses: Uint8Array[] = [];
  #queue: (() => void)[] = [];

  add(more: Partial<PimOptions>): PimRouter {
    const index = this.routers.length;
    const address = more.address ?? ip(`10.0.0.${index + 1}`);
    const events: PimEvents = {
      send: (bytes, destination) => this.#send(index, bytes, destination),
      onNeighbour: (neighbour, isUp, reason) =>
        this.events.push(`${index} ${textOfAddress(neighbour)} ${isUp} ${reason}`),
      onDesignated: (router) => this.events.push(`${index} DR ${textOfAddress(router)}`),
    };
    const router = new PimRouter({ ...options, random: createRandom(index), ...more, address }, events);
    this.routers.push(router);
    this.#addresses.push(address);
    return router;
  }

  start(): void {
    for (const router of this.routers) router.start(this.now);
  }

  run(ms: number): void {
    for (const end = this.now + ms; this.now < end; this.now += 100) {
      for (const router of this.routers) router.advance(this.now);
      for (const deliver of this.#queue.splice(0)) deliver();
    }
  }

  /** Messages of a kind, as `sender time`. */
  of(kind: PimMessage['kind'], from?: number): PimMessage[] {
    return this.sent
      .filter((one) => one.message.kind === kind && (from ?? one.from) === one.from)
      .map(({ message }) => message);
  }

  #send(from: number, bytes: Uint8Array, destination: Uint8Array): void {
    const source = this.#addresses[from] as Uint8Array;
    const message = findPimMessage(bytes, ends4);
    if (message !== undefined) this.sent.push({ from, at: this.now, message, to: textOfAddress(destination) });
    for (const [index, router] of this.routers.entries()) {
      const isFor =
        ['224.0.0.13', 'ff02::d'].includes(textOfAddress(destination)) ||
        compareAddresses(destination, this.#addresses[index] as Uint8Array) === 0;
      if (index === from || !isFor || this.isCut.has(index) || this.isCut.has(from)) continue;
      this.#queue.push(() => router.receive(bytes, source, { destination, now: this.now }));
    }
  }
}
