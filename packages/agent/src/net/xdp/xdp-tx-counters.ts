import { closeSocket } from '../kernel/socket.ts';
import { createSharedArray, loadProgram, openTracepoint, type SharedArray } from './bpf.ts';
import { BpfProgram, kernelFunction, type Register } from './bpf-program.ts';

/** Offsets of the shared counters in bytes; programs keep their own values after them. */
export const counterOffset = { issued: 0, handed: 8, sent: 16, processor: 24, own: 32 } as const;
const counterBytes = 4096;
/** Tracepoint that fires when frames were handed to an interface, and the offsets of its arguments. */
const transmitTracepoint = { name: 'xdp_devmap_xmit', sent: 16, refused: 24 } as const;

/**
 * Counts frames the interface accepted. Frames are handed over on the CPU that made them before anything else runs
 * there, so everything handed over on that CPU while frames of ours are outstanding is ours.
 */
const countingProgram = (counters: number): Buffer =>
  new BpfProgram()
    .set(6, { register: 1 })
    .setMapValue(7, counters)
    .load(8, 1, 7, counterOffset.issued)
    .load(8, 2, 7, counterOffset.handed)
    .jumpIf(1, 'equal', { register: 2 }, 'end')
    .call(kernelFunction.processor)
    .load(8, 1, 7, counterOffset.processor)
    .jumpIf(0, 'notEqual', { register: 1 }, 'end')
    .load(4, 2, 6, transmitTracepoint.sent)
    .load(4, 3, 6, transmitTracepoint.refused)
    .load(8, 1, 7, counterOffset.sent)
    .math('add', 1, { register: 2 })
    .store(8, 7, counterOffset.sent, 1)
    .load(8, 1, 7, counterOffset.handed)
    .math('add', 1, { register: 2 })
    .math('add', 1, { register: 3 })
    .store(8, 7, counterOffset.handed, 1)
    .label('end')
    .answer(0)
    .assemble();

/** Appends instructions to a program: counts one more frame, to be handed over from this CPU. */
export const issueFrame = (program: BpfProgram, counters: Register): BpfProgram =>
  program
    .call(kernelFunction.processor)
    .store(8, counters, counterOffset.processor, 0)
    .load(8, 1, counters, counterOffset.issued)
    .math('add', 1, 1)
    .store(8, counters, counterOffset.issued, 1);

/** Counters of the frames that a program made and of those the interface accepted. */
export class XdpTxCounters {
  readonly array: SharedArray;
  readonly #program: number;
  readonly #point: number;
  readonly #values: BigUint64Array;

  constructor() {
    const opened: (() => void)[] = [];
    try {
      this.array = createSharedArray(1, counterBytes);
      opened.push(() => this.array.close());
      this.#program = loadProgram('rawTracepoint', countingProgram(this.array.fd));
      opened.push(() => closeSocket(this.#program));
      this.#point = openTracepoint(transmitTracepoint.name, this.#program);
    } catch (error) {
      for (const close of opened) close();
      throw error;
    }
    this.#values = this.array.memory.uint64;
  }

  get issued(): number {
    return this.at(counterOffset.issued);
  }

  get sent(): number {
    return this.at(counterOffset.sent);
  }

  at(offset: number): number {
    return Number(this.#values[offset / 8]);
  }

  put(offset: number, value: number | bigint): void {
    this.#values[offset / 8] = BigInt(value);
  }

  /** Call before a run: frames made earlier and never handed over no longer count as outstanding. */
  begin(): void {
    this.#values[counterOffset.handed / 8] = this.#values[counterOffset.issued / 8] as bigint;
  }

  close(): void {
    closeSocket(this.#point);
    closeSocket(this.#program);
    this.array.close();
  }
}
