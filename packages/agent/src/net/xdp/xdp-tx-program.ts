import { BpfProgram, kernelFunction, type Register } from './bpf-program.ts';
import { slotOffset, stampBit } from './xdp-frame-slots.ts';
import { counterOffset, issueFrame } from './xdp-tx-counters.ts';

/** Values of this program after the shared counters: slots to send, clocks and the current timestamp. */
export const runOffset = {
  next: counterOffset.own,
  end: counterOffset.own + 8,
  wallOffset: counterOffset.own + 16,
  seconds: counterOffset.own + 24,
  nanoseconds: counterOffset.own + 32,
  stampSum: counterOffset.own + 40,
  lastDue: counterOffset.own + 48,
  lastLeft: counterOffset.own + 56,
  /** Extra delay of the next frame. */
  nextDelay: counterOffset.own + 64,
} as const;

export const minXdpFrameBytes = 14;
const verdict = { drop: 1, send: 3 } as const;
const timeBytes = 6;
const second = 1_000_000_000;
// Frames between two clock reads, which share a timestamp unless each has its own due time.
const framesPerClockRead = 16;
const [frame, length, counters, slot] = [6, 7, 8, 9] as const satisfies Register[];
// The length is loaded later.
const due = length;
/** Frames closer than this are dense. */
const denseNs = 20_000;
/**
 * Frames that are a little late, as at the start of each run, follow sooner by a fraction of their distance, given as a
 * right shift; for dense frames a larger fraction is still little time. Frames that are later than that follow eight
 * times as fast: the fewer frames make up for a long delay, the more are on time.
 */
const catchUp = { sparse: { ns: 500_000, shift: 7 }, dense: { ns: 2_000_000, shift: 4 } } as const;
const hurryShift = 3;
const stack = { key: -4 } as const;

/** Looks up the next unsent slot; drops the frame if there is none. */
const findSlot = (program: BpfProgram, slots: number): BpfProgram =>
  program
    .set(frame, { register: 1 })
    .load(8, 2, counters, runOffset.next)
    .load(8, 3, counters, runOffset.end)
    .jumpIf(2, 'atLeast', { register: 3 }, 'drop')
    .store(4, 10, stack.key, 2)
    .set(2, { register: 10 })
    .math('add', 2, stack.key)
    .setMap(1, slots)
    .call(kernelFunction.findInMap)
    .jumpIf(0, 'equal', 0, 'drop')
    .set(slot, { register: 0 });

/**
 * Sets register 1 to the distance to the previous frame, shortened if this one is late. Register 0 holds the time,
 * register 2 the due time of the previous frame.
 */
const shortenDistance = (program: BpfProgram): BpfProgram =>
  program
    .set(4, { register: due })
    .math('subtract', 4, { register: 2 })
    .set(1, { register: 0 })
    .math('subtract', 1, { register: due })
    .jumpIf(4, 'below', denseNs, 'dense')
    .set(3, catchUp.sparse.shift)
    .jumpIf(1, 'below', catchUp.sparse.ns, 'slightly')
    .jump('hurry')
    .label('dense')
    .set(3, catchUp.dense.shift)
    .jumpIf(1, 'below', catchUp.dense.ns, 'slightly')
    .label('hurry')
    .set(1, { register: 4 })
    .math('right', 1, hurryShift)
    .jump('spaced')
    .label('slightly')
    .set(1, { register: 4 })
    .math('right', 4, { register: 3 })
    .math('subtract', 1, { register: 4 })
    .label('spaced');

/**
 * Drops the frame before its due time. A late frame follows the previous one sooner than planned until the delay is
 * made up for, but never in a burst.
 */
const waitForTime = (program: BpfProgram): BpfProgram => {
  program
    .load(8, due, slot, slotOffset.due)
    .jumpIf(due, 'notEqual', 0, 'readClock')
    .load(8, 1, counters, counterOffset.issued)
    .math('and', 1, framesPerClockRead - 1)
    .jumpIf(1, 'notEqual', 0, 'due')
    .call(kernelFunction.timeNs)
    .jump('read')
    .label('readClock')
    .call(kernelFunction.timeNs)
    .jumpIf(0, 'below', { register: due }, 'drop')
    .load(8, 2, counters, runOffset.lastDue)
    .jumpIf(2, 'above', { register: due }, 'leave');
  return shortenDistance(program)
    .load(8, 2, counters, runOffset.lastLeft)
    .math('add', 1, { register: 2 })
    .jumpIf(0, 'below', { register: 1 }, 'drop')
    .label('leave')
    .store(8, counters, runOffset.lastDue, due)
    .load(8, 2, counters, runOffset.nextDelay)
    .math('add', 2, { register: 0 })
    .store(8, counters, runOffset.lastLeft, 2)
    .set(2, 0)
    .store(8, counters, runOffset.nextDelay, 2)
    .label('read');
};

/** The timestamp for signatures, and its part of checksums. */
const readWallClock = (program: BpfProgram): BpfProgram =>
  program
    .load(8, 1, counters, runOffset.wallOffset)
    .math('add', 0, { register: 1 })
    .set(1, { register: 0 })
    .math('divide', 0, second)
    .math('modulo', 1, second)
    .math('and', 0, 0xffff)
    .set(2, { register: 1 })
    .math('right', 2, 16)
    .math('add', 2, { register: 0 })
    .set(3, { register: 1 })
    .math('and', 3, 0xffff)
    .math('add', 2, { register: 3 })
    .store(8, counters, runOffset.stampSum, 2)
    .bigEndian(0, 16)
    .store(8, counters, runOffset.seconds, 0)
    .bigEndian(1, 32)
    .store(8, counters, runOffset.nanoseconds, 1)
    .label('due');

/** Trims the frame, which is as long as the longest, to the length in the slot. */
const fit = (program: BpfProgram, maxBytes: number): BpfProgram =>
  program
    .load(4, length, slot, slotOffset.length)
    .jumpIf(length, 'above', maxBytes, 'drop')
    .jumpIf(length, 'below', minXdpFrameBytes, 'drop')
    .jumpIf(length, 'equal', maxBytes, 'fits')
    .set(1, { register: frame })
    .set(2, { register: length })
    .math('add', 2, -maxBytes)
    .call(kernelFunction.changeTail)
    .jumpIf(0, 'notEqual', 0, 'drop')
    .label('fits');

const fold = (program: BpfProgram, sum: Register, spare: Register): BpfProgram =>
  program
    .set(spare, { register: sum })
    .math('right', spare, 16)
    .math('and', sum, 0xffff)
    .math('add', sum, { register: spare });

const skipUnless = (program: BpfProgram, bit: number, label: string): BpfProgram =>
  program.set(3, { register: 5 }).math('and', 3, bit).jumpIf(3, 'equal', 0, label);

/** Writes the timestamp into the signature and updates the checksum that covers it. */
const stamp = (program: BpfProgram, maxBytes: number): BpfProgram => {
  program.load(4, 5, slot, slotOffset.stamp);
  skipUnless(program, stampBit.isWanted, 'stamped')
    .set(1, { register: slot })
    .math('add', 1, { register: length })
    .load(8, 2, counters, runOffset.seconds)
    .store(2, 1, slotOffset.frame - timeBytes, 2)
    .load(8, 2, counters, runOffset.nanoseconds)
    .store(4, 1, slotOffset.frame - timeBytes + 2, 2)
    .set(1, { register: 5 })
    .math('and', 1, 0xffff)
    .jumpIf(1, 'equal', 0, 'stamped')
    .jumpIf(1, 'above', maxBytes - 2, 'stamped')
    .load(8, 2, counters, runOffset.stampSum);
  skipUnless(program, stampBit.isOdd, 'even');
  // In a frame of odd length the timestamp's bytes are in the other half of a word.
  fold(fold(program, 2, 3), 2, 3)
    .bigEndian(2, 16)
    .label('even');
  program
    .math('add', 1, { register: slot })
    .load(2, 4, 1, slotOffset.frame)
    .bigEndian(4, 16)
    .math('xor', 4, 0xffff)
    .math('add', 2, { register: 4 });
  fold(fold(fold(program, 2, 3), 2, 3), 2, 3)
    .math('xor', 2, 0xffff)
    .jumpIf(2, 'notEqual', 0, 'summed');
  return skipUnless(program, stampBit.isUdp, 'summed')
    .set(2, 0xffff)
    .label('summed')
    .bigEndian(2, 16)
    .store(2, 1, slotOffset.frame, 2)
    .label('stamped');
};

/** Copies the next slot into each frame when it is due, and timestamps it. */
export const xdpTxProgram = (parts: {
  readonly counters: number;
  readonly slots: number;
  readonly maxBytes: number;
}): Buffer => {
  const program = new BpfProgram().setMapValue(counters, parts.counters);
  findSlot(program, parts.slots);
  waitForTime(program);
  readWallClock(program);
  fit(program, parts.maxBytes);
  stamp(program, parts.maxBytes)
    .set(1, { register: frame })
    .set(2, 0)
    .set(3, { register: slot })
    .math('add', 3, slotOffset.frame)
    .set(4, { register: length })
    .call(kernelFunction.storeBytes)
    .jumpIf(0, 'notEqual', 0, 'drop')
    .load(8, 1, counters, runOffset.next)
    .math('add', 1, 1)
    .store(8, counters, runOffset.next, 1);
  return issueFrame(program, counters).answer(verdict.send).label('drop').answer(verdict.drop).assemble();
};
