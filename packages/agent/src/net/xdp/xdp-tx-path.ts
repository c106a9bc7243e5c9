import { closeSync, openSync } from 'node:fs';
import { errno, SystemError } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { closeSocket } from '../kernel/socket.ts';
import type { Device } from '../packet/device.ts';
import type { TxPath, TxPathOptions } from '../packet/tx-path.ts';
import { WallClock } from '../packet/wall-clock.ts';
import { attachProgramTo, BpfTestRun, loadProgram } from './bpf.ts';
import { xdpTransmitProblem } from './interface-features.ts';
import { XdpFrameSlots } from './xdp-frame-slots.ts';
import { XdpTxCounters } from './xdp-tx-counters.ts';
import { minXdpFrameBytes, runOffset, xdpTxProgram } from './xdp-tx-program.ts';

const call = process.arch === 'x64' ? { unshare: 272, setns: 308 } : { unshare: 97, setns: 268 };
const newNetwork = 0x4000_0000;
const loopbackIndex = 1;
const ownNetwork = '/proc/thread-self/ns/net';

/** Runs a step in a new network namespace; the thread always returns to its own. */
const inOwnNetworkNamespace = <T>(step: () => T): T => {
  const libc = requireLibc();
  const original = openSync(ownNetwork, 'r');
  try {
    if (libc.syscall(call.unshare, newNetwork, 0, 0, 0, 0, 0) < 0) throw new SystemError('unshare', libc.errno());
    try {
      return step();
    } finally {
      if (libc.syscall(call.setns, original, newNetwork, 0, 0, 0, 0) < 0)
        // The thread is stuck in the wrong namespace: nothing could continue.
        process.abort();
    }
  } finally {
    closeSync(original);
  }
};

/**
 * Keeps an XDP program enabled by attaching it to an interface in a namespace of its own. Otherwise each run would
 * enable and disable it and wait for all CPUs, which takes longer than the run.
 */
const keepXdpProgramEnabled = (program: number): { close(): void } => {
  const { network, link } = inOwnNetworkNamespace(() => {
    const opened = openSync(ownNetwork, 'r');
    try {
      return { network: opened, link: attachProgramTo(program, loopbackIndex, 'generic') };
    } catch (error) {
      closeSync(opened);
      throw error;
    }
  });
  return {
    close() {
      closeSocket(link);
      closeSync(network);
    },
  };
};

/** A page minus the kernel's own headroom. */
const maxFrameBytes = 3072;
const [defaultBatch, denseBatch] = [64, 16];
// A run costs as much as a hundred frames, so it should send many. There must be slots for a whole run.
const [minSlots, maxSlots, slotMemoryBytes] = [1024, 8192, 2_097_152];
const slotCountFor = (count: number, bytes: number): number =>
  Math.max(count, Math.min(maxSlots, Math.max(minSlots, Math.floor(slotMemoryBytes / bytes))));

// Frames further apart than this are sent one by one, so that none waits for others.
const maxDenseNs = 4000;
// A run cannot be interrupted, and frames are late between two of them: it is as long as everything else in this
// process can wait.
const maxRunNs = 60e6;
const minRepeatsToMeasure = 50_000;
// The first frame of a run finds cold caches and leaves this much later; the second keeps its distance to it.
const firstDelayNs = 4000;

/** Sends frames by an XDP program that copies, timestamps and paces them. */
class XdpTxPath implements TxPath {
  readonly slots: XdpFrameSlots;
  readonly #opened: { close(): void }[] = [];
  readonly #counters: XdpTxCounters;
  readonly #run: BpfTestRun;
  readonly #wall = new WallClock();
  /** Cost of one repeat that finds no due frame; measured during runs. */
  #repeatNs = 200;

  constructor(device: Device, { count, bytes }: TxPathOptions) {
    const maxBytes = Math.max(bytes, minXdpFrameBytes);
    try {
      this.slots = new XdpFrameSlots({ count: slotCountFor(count, maxBytes), bytes: maxBytes });
      this.#opened.push(this.slots.array);
      this.#counters = new XdpTxCounters();
      this.#opened.push(this.#counters);
      const fds = { counters: this.#counters.array.fd, slots: this.slots.array.fd };
      const program = loadProgram('xdp', xdpTxProgram({ ...fds, maxBytes }));
      this.#opened.push({ close: () => closeSocket(program) });
      this.#opened.push(keepXdpProgramEnabled(program));
      this.#run = new BpfTestRun({ program, device: device.index, model: Buffer.alloc(maxBytes) });
      this.#opened.push(this.#run);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get lost(): number {
    return this.#counters.issued - this.#counters.sent;
  }

  send(first: number, end: number): number {
    if (end === first) return 0;
    const counters = this.#counters;
    counters.put(runOffset.next, first);
    counters.put(runOffset.end, end);
    counters.put(runOffset.nextDelay, firstDelayNs);
    this.#setWallOffset();
    const batch = this.#batchFor(first, end);
    counters.begin();
    const [repeats, begun] = [this.#repeatsFor(first, end), performance.now()];
    const result = this.#run.run(repeats, batch);
    if (repeats > minRepeatsToMeasure) this.#repeatNs = ((performance.now() - begun) * 1e6) / repeats;
    const made = counters.at(runOffset.next) - first;
    if (made > 0 || result === 0) return made;
    return result === -errno.EINVAL ? -errno.ENODEV : result;
  }

  close(): void {
    for (const one of this.#opened.toReversed()) one.close();
  }

  #setWallOffset(): void {
    const now = performance.now();
    this.#wall.read(now);
    const wallNs = BigInt(this.#wall.seconds) * 1_000_000_000n + BigInt(Math.round(this.#wall.nanoseconds));
    this.#counters.put(runOffset.wallOffset, wallNs - BigInt(this.slots.clockAt(now)));
  }

  /** After how many repeats frames are handed to the interface. */
  #batchFor(first: number, end: number): number {
    const [start, last] = [this.slots.dueNs(first), this.slots.dueNs(end - 1)];
    if (last === 0) return Math.min(defaultBatch, end - first);
    return (last - start) / (end - first) > maxDenseNs ? 1 : denseBatch;
  }

  #repeatsFor(first: number, end: number): number {
    const last = this.slots.dueNs(end - 1);
    if (last === 0) return end - first;
    // Late frames keep their distances, too.
    const waitNs = Math.max(last - this.slots.clockAt(performance.now()), last - this.slots.dueNs(first));
    return end - first + Math.ceil(Math.min(maxRunNs, Math.max(0, waitNs)) / this.#repeatNs);
  }
}

const refusalOf = (error: unknown): string => {
  if (!(error instanceof SystemError)) return (error as Error).message;
  if (error.code === 'EPERM' || error.code === 'EACCES') return 'it requires cap_bpf, cap_perfmon and cap_sys_admin';
  if (error.code === 'ENOSYS') return 'the kernel does not support bpf';
  return error.message;
};

/** Why XDP transmit is not available on this machine; undefined if it depends on the interface. */
export const probeXdpTx = (): string | undefined => {
  try {
    new XdpTxCounters().close();
    return undefined;
  } catch (error) {
    return refusalOf(error);
  }
};

export const openXdpTxPath = (device: Device, sizes: TxPathOptions): TxPath => {
  try {
    if (sizes.bytes > maxFrameBytes) throw new RangeError(`frames of more than ${maxFrameBytes} bytes do not fit`);
    const reason = xdpTransmitProblem(device);
    if (reason !== undefined) throw new Error(reason);
    return new XdpTxPath(device, sizes);
  } catch (error) {
    throw new Error(`no XDP live frames: ${refusalOf(error)}`, { cause: error });
  }
};
