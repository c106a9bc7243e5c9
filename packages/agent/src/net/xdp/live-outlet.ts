import { errno, SystemError } from '../kernel/errno.ts';
import { closeSocket } from '../kernel/socket.ts';
import type { Device } from '../packet/device.ts';
import type { Outlet, OutletSizes } from '../packet/tx-path.ts';
import { WallClock } from '../packet/wall-clock.ts';
import { LiveRun, loadProgram } from './bpf.ts';
import { frameTakingRefusal } from './interface-features.ts';
import { LiveLedger } from './live-ledger.ts';
import { LivePlaces } from './live-places.ts';
import { leastLiveBytes, liveProgram, runAt } from './live-program.ts';
import { anchorProgram } from './program-anchor.ts';

/** A page without what the kernel itself puts there. */
const mostLiveBytes = 3072;
const [usualBatch, denseBatch] = [64, 16];
// A run costs as much as a hundred frames: it is made worth its while. There must be room for those of a whole run.
const [fewestPlaces, mostPlaces, placeBytes] = [1024, 8192, 2_097_152];
const placesFor = (count: number, bytes: number): number =>
  Math.max(count, Math.min(mostPlaces, Math.max(fewestPlaces, Math.floor(placeBytes / bytes))));

// Frames further apart than this leave one by one: others would wait for them.
const denseNs = 4000;
// A run cannot be ended, and between two of them frames become late: it is as long as everything else here can wait.
const longestRunNs = 60e6;
const turnsToLearn = 50_000;
// The first frame of a run finds nothing warm and leaves so much later; the second keeps its distance to that.
const firstDelayNs = 4000;

/** Frames that a program in the kernel copies, stamps and sends, each at its time. */
class LiveOutlet implements Outlet {
  readonly places: LivePlaces;
  readonly #opened: { close(): void }[] = [];
  readonly #ledger: LiveLedger;
  readonly #run: LiveRun;
  readonly #wall = new WallClock();
  /** What it costs to find out that it is not yet time; learnt as runs are made. */
  #turnNs = 200;

  constructor(device: Device, { count, bytes }: OutletSizes) {
    const mostBytes = Math.max(bytes, leastLiveBytes);
    try {
      this.places = new LivePlaces({ count: placesFor(count, mostBytes), bytes: mostBytes });
      this.#opened.push(this.places.array);
      this.#ledger = new LiveLedger();
      this.#opened.push(this.#ledger);
      const fds = { ledger: this.#ledger.array.fd, places: this.places.array.fd };
      const program = loadProgram('xdp', liveProgram({ ...fds, mostBytes }));
      this.#opened.push({ close: () => closeSocket(program) });
      this.#opened.push(anchorProgram(program));
      this.#run = new LiveRun({ program, device: device.index, model: Buffer.alloc(mostBytes) });
      this.#opened.push(this.#run);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get lost(): number {
    return this.#ledger.issued - this.#ledger.sent;
  }

  send(first: number, end: number): number {
    if (end === first) return 0;
    const ledger = this.#ledger;
    ledger.put(runAt.next, first);
    ledger.put(runAt.end, end);
    ledger.put(runAt.nextDelay, firstDelayNs);
    this.#tellTime();
    const batch = this.#batchOf(first, end);
    ledger.begin();
    const [turns, begun] = [this.#turnsOf(first, end), performance.now()];
    const result = this.#run.run(turns, batch);
    if (turns > turnsToLearn) this.#turnNs = ((performance.now() - begun) * 1e6) / turns;
    const made = ledger.at(runAt.next) - first;
    if (made > 0 || result === 0) return made;
    return result === -errno.EINVAL ? -errno.ENODEV : result;
  }

  close(): void {
    for (const one of this.#opened.toReversed()) one.close();
  }

  #tellTime(): void {
    const now = performance.now();
    this.#wall.read(now);
    const wallNs = BigInt(this.#wall.seconds) * 1_000_000_000n + BigInt(Math.round(this.#wall.nanoseconds));
    this.#ledger.put(runAt.wallOffset, wallNs - BigInt(this.places.clockAt(now)));
  }

  /** How many turns until what is handed to the interface leaves. */
  #batchOf(first: number, end: number): number {
    const [start, last] = [this.places.dueNs(first), this.places.dueNs(end - 1)];
    if (last === 0) return Math.min(usualBatch, end - first);
    return (last - start) / (end - first) > denseNs ? 1 : denseBatch;
  }

  #turnsOf(first: number, end: number): number {
    const last = this.places.dueNs(end - 1);
    if (last === 0) return end - first;
    // Frames that are late keep their distances, too.
    const waitNs = Math.max(last - this.places.clockAt(performance.now()), last - this.places.dueNs(first));
    return end - first + Math.ceil(Math.min(longestRunNs, Math.max(0, waitNs)) / this.#turnNs);
  }
}

const refusalOf = (error: unknown): string => {
  if (!(error instanceof SystemError)) return (error as Error).message;
  if (error.code === 'EPERM' || error.code === 'EACCES')
    return 'it needs the rights cap_bpf, cap_perfmon, cap_sys_admin';
  if (error.code === 'ENOSYS') return 'the kernel has no bpf';
  return error.message;
};

/** Why no interface here takes frames of programs; undefined when it depends on the interface. */
export const probeLive = (): string | undefined => {
  try {
    new LiveLedger().close();
    return undefined;
  } catch (error) {
    return refusalOf(error);
  }
};

/** Throws an error that says why not. */
export const openLiveOutlet = (device: Device, sizes: OutletSizes): Outlet => {
  try {
    if (sizes.bytes > mostLiveBytes) throw new RangeError(`frames of more than ${mostLiveBytes} bytes do not fit`);
    const reason = frameTakingRefusal(device);
    if (reason !== undefined) throw new Error(reason);
    return new LiveOutlet(device, sizes);
  } catch (error) {
    throw new Error(`no XDP live frames: ${refusalOf(error)}`, { cause: error });
  }
};
