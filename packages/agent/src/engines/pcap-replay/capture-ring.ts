import { setTimeout as sleep } from 'node:timers/promises';
import { KEY_BYTES } from '@rushhour/pcap';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import { type Device, DeviceGone, linkStateOf } from '../../net/packet/device.ts';
import type { FilterProgram } from '../../net/packet/packet-filter.ts';
import { PacketRing } from '../../net/packet/packet-ring.ts';
import type { Receiver } from './receiver.ts';

const sizes = { blocks: 256, blockBytes: 131_072, retireMs: 8 } as const;
const watchMs = 200;
/** Accepts all frames, truncated to the bytes needed for matching. */
const beginnings: FilterProgram = [{ code: 0x06, jt: 0, jf: 0, k: KEY_BYTES }];

/** Receives frames on several interfaces and watches their link state. */
export class CaptureRings {
  /** Rejects when an interface is removed. */
  readonly broken: Promise<never>;
  readonly #breaking = Promise.withResolvers<never>();
  readonly #devices: readonly Device[];
  readonly #rings: readonly PacketRing[];
  readonly #watch: NodeJS.Timeout;
  #drops = 0;

  constructor(devices: readonly Device[], receiver: Receiver, note: (remark: string) => void) {
    this.#devices = devices;
    this.broken = this.#breaking.promise;
    this.broken.catch(() => {});
    this.#rings = receiver.expectsNothing
      ? []
      : devices.map((device) => {
          const source = { device, poller: epollPoller(), filter: beginnings };
          return new PacketRing(source, sizes, (frame) => receiver.arrive(frame));
        });
    this.#watch = setInterval(() => {
      for (const { name } of devices) this.#look(name, note);
    }, watchMs);
  }

  /** Processes all frames received so far. Throws when an interface was removed. */
  async drain(): Promise<void> {
    // The kernel hands over the last block only after its timeout.
    await sleep(3 * sizes.retireMs);
    for (const ring of this.#rings) ring.ready();
    const gone = this.#devices.find(({ name }) => linkStateOf(name) === 'gone');
    if (gone !== undefined) throw new DeviceGone(gone.name);
  }

  /** Frames dropped because the ring was full. */
  takeDrops(): number {
    for (const ring of this.#rings) this.#drops += ring.takeDrops();
    return this.#drops;
  }

  close(): void {
    clearInterval(this.#watch);
    for (const ring of this.#rings) ring.close();
  }

  #look(device: string, note: (remark: string) => void): void {
    const state = linkStateOf(device);
    if (state === 'down') note(`the link of ${device} was down`);
    if (state === 'gone') this.#breaking.reject(new DeviceGone(device));
  }
}
