import { errno, SystemError } from '../kernel/errno.ts';
import { type Device, DeviceGone, linkStateOf } from './device.ts';
import { isFull } from './frame-batch.ts';
import type { ClockedPlaces, FramePlaces, Outlet } from './tx-path.ts';

const lookAgainMs = 10;

/** Why a frame was not taken: no room for now, or no link. */
export type Refusal = 'full' | 'down';

export interface SendResult {
  /** Frames from the first on that are done with. */
  readonly taken: number;
  /** How many of them did not leave: the interface refused them when it was too late to send them again. */
  readonly lost: number;
  /** Why the frame after them was not taken, or why some were lost. */
  readonly refused?: Refusal;
}

/** Hands frames to an interface and says what became of them. */
export class FrameSender {
  /** Its name for those who read about a run. */
  readonly way: string;
  readonly places: FramePlaces;
  /** Where the way looks at the clock for each frame. */
  readonly clocked: ClockedPlaces | undefined;
  readonly #outlet: Outlet;
  readonly #device: Device;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #state: ReturnType<typeof linkStateOf> = 'up';
  #lost = 0;

  constructor(outlet: Outlet, device: Device, way: string) {
    this.way = way;
    this.places = outlet.places;
    this.clocked = 'setDue' in outlet.places ? outlet.places : undefined;
    this.#outlet = outlet;
    this.#device = device;
  }

  /** Sends frames from `first` to before `end`. The places of those that were taken may be written again at once. */
  send(first: number, end: number): SendResult {
    if (!(first >= 0 && end >= first && end <= this.places.count))
      throw new RangeError(`there are no places ${first} to ${end}`);
    const result = this.#outlet.send(first, end);
    const lost = this.#outlet.lost - this.#lost;
    this.#lost += lost;
    if (result >= 0) return lost === 0 ? { taken: result, lost } : { taken: result, lost, refused: this.#refusal() };
    if (result === -errno.EINTR) return { taken: 0, lost, refused: 'full' };
    if (result === -errno.ENXIO || result === -errno.ENODEV) throw new DeviceGone(this.#device.name);
    if (result !== -errno.ENETDOWN && !isFull(result)) throw new SystemError('send', -result);
    const refused = this.#refusal();
    return { taken: 0, lost, refused: result === -errno.ENETDOWN ? 'down' : refused };
  }

  close(): void {
    this.#outlet.close();
  }

  #refusal(): Refusal {
    const now = performance.now();
    if (now - this.#lookedAt >= lookAgainMs) {
      this.#lookedAt = now;
      this.#state = linkStateOf(this.#device.name);
    }
    // An interface that is taken away is first down, then gone.
    if (this.#state === 'gone') throw new DeviceGone(this.#device.name);
    return this.#state === 'down' ? 'down' : 'full';
  }
}
