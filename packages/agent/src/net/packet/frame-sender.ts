import { errno, SystemError } from '../kernel/errno.ts';
import { type Device, DeviceGone, linkStateOf } from './device.ts';
import { isFull } from './frame-batch.ts';
import type { FrameSlots, TimedFrameSlots, TxPath } from './tx-path.ts';

const linkCheckMs = 10;

/** Why a frame was not accepted: no buffer space, or no link. */
export type SendRefusal = 'full' | 'down';

export interface SendResult {
  /** Frames accepted, from the first on. */
  readonly taken: number;
  /** How many of them were lost: the interface rejected them too late to retry. */
  readonly lost: number;
  /** Why the next frame was not accepted, or why some were lost. */
  readonly refused?: SendRefusal;
}

/** Sends frames by an interface and reports the result. */
export class FrameSender {
  /** Name of the path for reports. */
  readonly pathName: string;
  readonly slots: FrameSlots;
  /** Set if the path paces each frame. */
  readonly timedSlots: TimedFrameSlots | undefined;
  readonly #path: TxPath;
  readonly #device: Device;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #state: ReturnType<typeof linkStateOf> = 'up';
  #lost = 0;

  constructor(path: TxPath, device: Device, pathName: string) {
    this.pathName = pathName;
    this.slots = path.slots;
    this.timedSlots = 'setDue' in path.slots ? path.slots : undefined;
    this.#path = path;
    this.#device = device;
  }

  /** Sends frames from `first` to before `end`. The slots of accepted frames may be rewritten immediately. */
  send(first: number, end: number): SendResult {
    if (!(first >= 0 && end >= first && end <= this.slots.count))
      throw new RangeError(`there are no slots ${first} to ${end}`);
    const result = this.#path.send(first, end);
    const lost = this.#path.lost - this.#lost;
    this.#lost += lost;
    if (result >= 0) return lost === 0 ? { taken: result, lost } : { taken: result, lost, refused: this.#checkLink() };
    if (result === -errno.EINTR) return { taken: 0, lost, refused: 'full' };
    if (result === -errno.ENXIO || result === -errno.ENODEV) throw new DeviceGone(this.#device.name);
    if (result !== -errno.ENETDOWN && !isFull(result)) throw new SystemError('send', -result);
    const refused = this.#checkLink();
    return { taken: 0, lost, refused: result === -errno.ENETDOWN ? 'down' : refused };
  }

  close(): void {
    this.#path.close();
  }

  #checkLink(): SendRefusal {
    const now = performance.now();
    if (now - this.#checkedAt >= linkCheckMs) {
      this.#checkedAt = now;
      this.#state = linkStateOf(this.#device.name);
    }
    // An interface that is removed is first down, then gone.
    if (this.#state === 'gone') throw new DeviceGone(this.#device.name);
    return this.#state === 'down' ? 'down' : 'full';
  }
}
