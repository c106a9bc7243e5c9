import { errno, SystemError } from '../kernel/errno.ts';
import { type Device, DeviceGone, linkStateOf } from './device.ts';
import { isFull } from './frame-batch.ts';
import type { FramePlaces, Outlet } from './outlet.ts';

const lookAgainMs = 10;

/** Why a frame was not taken: no room for now, or no link. */
export type Refusal = 'full' | 'down';

/** Hands frames to an interface and says what became of them. */
export class FrameSender {
  readonly way: string;
  readonly places: FramePlaces;
  readonly #outlet: Outlet;
  readonly #device: Device;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #state: ReturnType<typeof linkStateOf> = 'up';
  #lost = 0;

  constructor(outlet: Outlet, device: Device) {
    this.way = outlet.way;
    this.places = outlet.places;
    this.#outlet = outlet;
    this.#device = device;
  }

  /** How many frames from `first` on were taken; `refused` says why the one after them was not. */
  send(first: number, end: number): { readonly taken: number; readonly refused?: Refusal } {
    const result = this.#outlet.send(first, end);
    if (result >= 0) return { taken: result };
    if (result === -errno.EINTR) return { taken: 0, refused: 'full' };
    if (result === -errno.ENXIO || result === -errno.ENODEV) throw new DeviceGone(this.#device.name);
    if (result !== -errno.ENETDOWN && !isFull(result)) throw new SystemError('send', -result);
    const state = this.#look();
    // An interface that is taken away is first down, then gone.
    if (state === 'gone') throw new DeviceGone(this.#device.name);
    return { taken: 0, refused: state === 'down' || result === -errno.ENETDOWN ? 'down' : 'full' };
  }

  /** Frames that were taken and did not leave all the same, since the last call. */
  takeLost(): number {
    const lost = this.#outlet.lost - this.#lost;
    this.#lost += lost;
    return lost;
  }

  close(): void {
    this.#outlet.close();
  }

  #look(): ReturnType<typeof linkStateOf> {
    const now = performance.now();
    if (now - this.#lookedAt < lookAgainMs) return this.#state;
    this.#lookedAt = now;
    this.#state = linkStateOf(this.#device.name);
    return this.#state;
  }
}
