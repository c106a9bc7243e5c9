import { TickClock } from './tick-clock.ts';

export interface CaptureInterface {
  readonly linkType: number;
  /** 0 = no limit. */
  readonly snapLen: number;
  readonly clock: TickClock;
}

const OPTION_TSRESOL = 9;
const OPTION_TSOFFSET = 14;
const MICROSECONDS = 6;
// Beyond this a shifted time would no longer be a safe integer.
const MAX_OFFSET_SECONDS = 2n ** 40n;

/** Reads an interface block of `length` bytes at `at`; damaged options end the list, they do not end the reading. */
export function readInterface(view: DataView, at: number, length: number, isLittleEndian: boolean): CaptureInterface {
  let resolution = MICROSECONDS;
  let offsetSeconds = 0;
  const end = at + length - 4;
  let option = at + 16;
  while (end - option >= 4) {
    const code = view.getUint16(option, isLittleEndian);
    const size = view.getUint16(option + 2, isLittleEndian);
    const value = option + 4;
    if (code === 0 || size > end - value) break;
    if (code === OPTION_TSRESOL && size >= 1) resolution = view.getUint8(value);
    if (code === OPTION_TSOFFSET && size >= 8) offsetSeconds = boundedOffset(view.getBigInt64(value, isLittleEndian));
    option = value + size + (-size & 3);
  }
  return {
    linkType: view.getUint16(at + 8, isLittleEndian),
    snapLen: view.getUint32(at + 12, isLittleEndian),
    clock: new TickClock(resolution, offsetSeconds),
  };
}

function boundedOffset(seconds: bigint): number {
  if (seconds > MAX_OFFSET_SECONDS || seconds < -MAX_OFFSET_SECONDS) return 0;
  return Number(seconds);
}
