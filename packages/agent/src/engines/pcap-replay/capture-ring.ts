import { setTimeout as sleep } from 'node:timers/promises';
import { KEY_BYTES } from '@rushhour/pcap';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import { type Device, DeviceGone, linkStateOf } from '../../net/packet/device.ts';
import type { FilterProgram } from '../../net/packet/packet-filter.ts';
import { PacketRing } from '../../net/packet/packet-ring.ts';
import type { Receiver } from './receiver.ts';

const sizes = { blocks: 256, blockBytes: 131_072, retireMs: 8 } as const;
const watchMs = 200;
/** Everything arrives, but only as much of it as is looked at. */
const beginnings: FilterProgram = [{ code: 0x06, jt: 0, jf: 0, k: KEY_BYTES }];

/** Hears what arrives on some interfaces, and whether they stay there. */
export class CaptureRings {
  /** Rejects when an interface is taken away. */
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

  /** Hears what has arrived until now. Throws when an interface is no longer there. */
  async drain(): Promise<void> {
    // The last block is handed over only when its time is up.
    await sleep(3 * sizes.retireMs);
    for (const ring of this.#rings) ring.ready();
    const gone = this.#devices.find(({ name }) => linkStateOf(name) === 'gone');
    if (gone !== undefined) throw new DeviceGone(gone.name);
  }

  /** Frames for which there was no room. */
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
