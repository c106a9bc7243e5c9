import { BpfProgram, kernelFunction, type Register } from './bpf-program.ts';
import { issueFrame, ledgerAt } from './live-ledger.ts';
import { placeAt, stampBit } from './live-places.ts';

/** Numbers of the ledger that are this program's own: what is to be sent, the clock, and the time as it is stamped. */
export const runAt = {
  next: ledgerAt.own,
  end: ledgerAt.own + 8,
  wallOffset: ledgerAt.own + 16,
  seconds: ledgerAt.own + 24,
  nanoseconds: ledgerAt.own + 32,
  stampSum: ledgerAt.own + 40,
  lastDue: ledgerAt.own + 48,
  lastLeft: ledgerAt.own + 56,
  /** How much longer than others the next frame takes to leave once it is its time. */
  nextDelay: ledgerAt.own + 64,
} as const;

export const leastLiveBytes = 14;
const answerOf = { drop: 1, send: 3 } as const;
const timeBytes = 6;
const second = 1_000_000_000;
// Between two looks at the clock so many frames bear the same time, unless each has a time of its own to leave.
const framesPerLook = 16;
const [frame, length, ledger, place] = [6, 7, 8, 9] as const satisfies Register[];
// The length is known later.
const due = length;
/** Frames less than this apart are close to each other. */
const denseNs = 20_000;
/**
 * What is a little late, as at the beginning of each run, follows sooner by a part of its distance, given as a power of
 * one half; of frames that are close a larger part is still little time. What is later than that follows eight times as
 * fast: the fewer frames have to make up for a long delay, the more of them are where they should be.
 */
const little = { sparse: { ns: 500_000, shift: 7 }, dense: { ns: 2_000_000, shift: 4 } } as const;
const hurryShift = 3;
const stack = { key: -4 } as const;

/** A place is looked up that has not been sent; without one nothing happens. */
const findPlace = (program: BpfProgram, places: number): BpfProgram =>
  program
    .set(frame, { register: 1 })
    .load(8, 2, ledger, runAt.next)
    .load(8, 3, ledger, runAt.end)
    .jumpIf(2, 'atLeast', { register: 3 }, 'drop')
    .store(4, 10, stack.key, 2)
    .set(2, { register: 10 })
    .math('add', 2, stack.key)
    .setMap(1, places)
    .call(kernelFunction.findInMap)
    .jumpIf(0, 'equal', 0, 'drop')
    .set(place, { register: 0 });

/**
 * Before its time nothing happens. What is late follows the one before it sooner than it should, until the delay is made
 * up for, but never in a heap.
 */
const waitForTime = (program: BpfProgram): BpfProgram =>
  program
    .load(8, due, place, placeAt.due)
    .jumpIf(due, 'notEqual', 0, 'look')
    .load(8, 1, ledger, ledgerAt.issued)
    .math('and', 1, framesPerLook - 1)
    .jumpIf(1, 'notEqual', 0, 'isTime')
    .call(kernelFunction.timeNs)
    .jump('read')
    .label('look')
    .call(kernelFunction.timeNs)
    .jumpIf(0, 'below', { register: due }, 'drop')
    .load(8, 2, ledger, runAt.lastDue)
    .jumpIf(2, 'above', { register: due }, 'leave')
    .set(4, { register: due })
    .math('subtract', 4, { register: 2 })
    .set(1, { register: 0 })
    .math('subtract', 1, { register: due })
    .jumpIf(4, 'below', denseNs, 'dense')
    .set(3, little.sparse.shift)
    .jumpIf(1, 'below', little.sparse.ns, 'slightly')
    .jump('hurry')
    .label('dense')
    .set(3, little.dense.shift)
    .jumpIf(1, 'below', little.dense.ns, 'slightly')
    .label('hurry')
    .set(1, { register: 4 })
    .math('right', 1, hurryShift)
    .jump('spaced')
    .label('slightly')
    .set(1, { register: 4 })
    .math('right', 4, { register: 3 })
    .math('subtract', 1, { register: 4 })
    .label('spaced')
    .load(8, 2, ledger, runAt.lastLeft)
    .math('add', 1, { register: 2 })
    .jumpIf(0, 'below', { register: 1 }, 'drop')
    .label('leave')
    .store(8, ledger, runAt.lastDue, due)
    .load(8, 2, ledger, runAt.nextDelay)
    .math('add', 2, { register: 0 })
    .store(8, ledger, runAt.lastLeft, 2)
    .set(2, 0)
    .store(8, ledger, runAt.nextDelay, 2)
    .label('read');

/** The wall clock as it goes into signatures, and its part of checksums. */
const readWallClock = (program: BpfProgram): BpfProgram =>
  program
    .load(8, 1, ledger, runAt.wallOffset)
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
    .store(8, ledger, runAt.stampSum, 2)
    .bigEndian(0, 16)
    .store(8, ledger, runAt.seconds, 0)
    .bigEndian(1, 32)
    .store(8, ledger, runAt.nanoseconds, 1)
    .label('isTime');

/** The frame gets the length of the one in the place, where the model is as long as the longest. */
const fit = (program: BpfProgram, mostBytes: number): BpfProgram =>
  program
    .load(4, length, place, placeAt.length)
    .jumpIf(length, 'above', mostBytes, 'drop')
    .jumpIf(length, 'below', leastLiveBytes, 'drop')
    .jumpIf(length, 'equal', mostBytes, 'fits')
    .set(1, { register: frame })
    .set(2, { register: length })
    .math('add', 2, -mostBytes)
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

/** Writes the time into the signature, and what it adds to the sum into the checksum that covers it. */
const stamp = (program: BpfProgram, mostBytes: number): BpfProgram => {
  program.load(4, 5, place, placeAt.stamp);
  skipUnless(program, stampBit.isWanted, 'stamped')
    .set(1, { register: place })
    .math('add', 1, { register: length })
    .load(8, 2, ledger, runAt.seconds)
    .store(2, 1, placeAt.frame - timeBytes, 2)
    .load(8, 2, ledger, runAt.nanoseconds)
    .store(4, 1, placeAt.frame - timeBytes + 2, 2)
    .set(1, { register: 5 })
    .math('and', 1, 0xffff)
    .jumpIf(1, 'equal', 0, 'stamped')
    .jumpIf(1, 'above', mostBytes - 2, 'stamped')
    .load(8, 2, ledger, runAt.stampSum);
  skipUnless(program, stampBit.isOdd, 'even');
  // In a frame of odd length each byte of the time lies in the other half of a word.
  fold(fold(program, 2, 3), 2, 3)
    .bigEndian(2, 16)
    .label('even');
  program
    .math('add', 1, { register: place })
    .load(2, 4, 1, placeAt.frame)
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
    .store(2, 1, placeAt.frame, 2)
    .label('stamped');
};

/** Makes each frame a copy of the one in the next place, at its time, and stamps it. */
export const liveProgram = (parts: {
  readonly ledger: number;
  readonly places: number;
  readonly mostBytes: number;
}): Buffer => {
  const program = new BpfProgram().setMapValue(ledger, parts.ledger);
  findPlace(program, parts.places);
  waitForTime(program);
  readWallClock(program);
  fit(program, parts.mostBytes);
  stamp(program, parts.mostBytes)
    .set(1, { register: frame })
    .set(2, 0)
    .set(3, { register: place })
    .math('add', 3, placeAt.frame)
    .set(4, { register: length })
    .call(kernelFunction.storeBytes)
    .jumpIf(0, 'notEqual', 0, 'drop')
    .load(8, 1, ledger, runAt.next)
    .math('add', 1, 1)
    .store(8, ledger, runAt.next, 1);
  return issueFrame(program, ledger).answer(answerOf.send).label('drop').answer(answerOf.drop).assemble();
};
