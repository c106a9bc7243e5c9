import { errno, SystemError } from '../../net/kernel/errno.ts';
import { closeSocket } from '../../net/kernel/socket.ts';
import { type Device, DeviceGone, linkStateOf } from '../../net/packet/device.ts';
import { FrameBatch, isFull } from '../../net/packet/frame-batch.ts';
import { openSender } from '../../net/packet/packet-socket.ts';

const batchCount = 128;
const lookAgainMs = 10;

export type Refusal = 'full' | 'down';

/** Hands frames to an interface and says what became of them. */
export class Transmitter {
  readonly batch: FrameBatch;
  readonly #device: Device;
  readonly #fd: number;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #state: ReturnType<typeof linkStateOf> = 'up';

  constructor(device: Device, mostBytes: number) {
    this.#device = device;
    this.#fd = openSender(device);
    this.batch = new FrameBatch({ count: batchCount, bytes: mostBytes });
  }

  /** How many frames from `first` on were taken; `refused` says why the one after them was not. */
  send(first: number, end: number): { readonly taken: number; readonly refused?: Refusal } {
    const result = this.batch.send(this.#fd, first, end);
    if (result >= 0) return { taken: result };
    if (result === -errno.EINTR) return { taken: 0, refused: 'full' };
    if (result === -errno.ENXIO || result === -errno.ENODEV) throw new DeviceGone(this.#device.name);
    if (result !== -errno.ENETDOWN && !isFull(result)) throw new SystemError('sendmmsg', -result);
    const state = this.#look();
    // An interface that is taken away is first down, then gone.
    if (state === 'gone') throw new DeviceGone(this.#device.name);
    return { taken: 0, refused: state === 'down' || result === -errno.ENETDOWN ? 'down' : 'full' };
  }

  close(): void {
    closeSocket(this.#fd);
    this.batch.release();
  }

  #look(): ReturnType<typeof linkStateOf> {
    const now = performance.now();
    if (now - this.#lookedAt < lookAgainMs) return this.#state;
    this.#lookedAt = now;
    this.#state = linkStateOf(this.#device.name);
    return this.#state;
  }
}
