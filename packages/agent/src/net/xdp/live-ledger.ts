import { closeSocket } from '../kernel/socket.ts';
import { createSharedArray, loadProgram, openTracepoint, type SharedArray } from './bpf.ts';
import { BpfProgram, kernelFunction, type Register } from './bpf-program.ts';

/** Where the numbers stand that program and ledger share, in bytes; what programs keep for themselves follows. */
export const ledgerAt = { issued: 0, handed: 8, sent: 16, processor: 24, own: 32 } as const;
const ledgerBytes = 4096;
/** Arguments of the point the kernel passes whenever frames have been handed to an interface. */
const handedPoint = { name: 'xdp_devmap_xmit', sent: 16, refused: 24 } as const;

/**
 * Counts what an interface took. Frames are handed over on the processor that made them before anything else can
 * happen there, so whatever is handed over there while frames of ours are open is ours.
 */
const ledgerProgram = (ledger: number): Buffer =>
  new BpfProgram()
    .set(6, { register: 1 })
    .setMapValue(7, ledger)
    .load(8, 1, 7, ledgerAt.issued)
    .load(8, 2, 7, ledgerAt.handed)
    .jumpIf(1, 'equal', { register: 2 }, 'end')
    .call(kernelFunction.processor)
    .load(8, 1, 7, ledgerAt.processor)
    .jumpIf(0, 'notEqual', { register: 1 }, 'end')
    .load(4, 2, 6, handedPoint.sent)
    .load(4, 3, 6, handedPoint.refused)
    .load(8, 1, 7, ledgerAt.sent)
    .math('add', 1, { register: 2 })
    .store(8, 7, ledgerAt.sent, 1)
    .load(8, 1, 7, ledgerAt.handed)
    .math('add', 1, { register: 2 })
    .math('add', 1, { register: 3 })
    .store(8, 7, ledgerAt.handed, 1)
    .label('end')
    .answer(0)
    .assemble();

/** Adds to a program: one more frame is made, to be handed over from this processor. */
export const issueFrame = (program: BpfProgram, ledger: Register): BpfProgram =>
  program
    .call(kernelFunction.processor)
    .store(8, ledger, ledgerAt.processor, 0)
    .load(8, 1, ledger, ledgerAt.issued)
    .math('add', 1, 1)
    .store(8, ledger, ledgerAt.issued, 1);

/** The account of the frames that a program made: how many, and how many of them the interface took. */
export class LiveLedger {
  readonly array: SharedArray;
  readonly #program: number;
  readonly #point: number;
  readonly #numbers: BigUint64Array;

  constructor() {
    const opened: (() => void)[] = [];
    try {
      this.array = createSharedArray(1, ledgerBytes);
      opened.push(() => this.array.close());
      this.#program = loadProgram('rawTracepoint', ledgerProgram(this.array.fd));
      opened.push(() => closeSocket(this.#program));
      this.#point = openTracepoint(handedPoint.name, this.#program);
    } catch (error) {
      for (const close of opened) close();
      throw error;
    }
    this.#numbers = this.array.memory.uint64;
  }

  get issued(): number {
    return this.at(ledgerAt.issued);
  }

  get sent(): number {
    return this.at(ledgerAt.sent);
  }

  at(place: number): number {
    return Number(this.#numbers[place / 8]);
  }

  put(place: number, value: number | bigint): void {
    this.#numbers[place / 8] = BigInt(value);
  }

  /** Before frames are made: what was made before and never handed over is open no longer. */
  begin(): void {
    this.#numbers[ledgerAt.handed / 8] = this.#numbers[ledgerAt.issued / 8] as bigint;
  }

  close(): void {
    closeSocket(this.#point);
    closeSocket(this.#program);
    this.array.close();
  }
}
