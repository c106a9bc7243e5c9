import { constants } from 'node:os';

const names = new Map<number, string>(Object.entries(constants.errno).map(([name, number]) => [number, name]));
// Not all of these are in Node's table.
for (const [number, name] of [
  [38, 'ENOSYS'],
  [95, 'EOPNOTSUPP'],
  [113, 'EHOSTUNREACH'],
] as const)
  names.set(number, name);

const { EAGAIN, EBUSY, EINPROGRESS, EINTR, EINVAL, EIO, EMSGSIZE, ENETDOWN, ENOBUFS, ENODEV, ENXIO } = constants.errno;
/** The errors that are compared against. Property reads on Node's full table are slow. */
export const errno = {
  EAGAIN,
  EBUSY,
  EINPROGRESS,
  EINTR,
  EINVAL,
  EIO,
  EMSGSIZE,
  ENETDOWN,
  ENOBUFS,
  ENODEV,
  ENXIO,
} as const;

/** The symbolic name of an error number, such as `ECONNREFUSED`. */
export const errnoName = (number: number): string => names.get(number) ?? `E${number}`;

/** A failed system call, in the shape of Node's own errors: engines count `code`. */
export class SystemError extends Error {
  readonly code: string;
  readonly errno: number;
  constructor(call: string, number: number, detail = '') {
    super(`${call} ${errnoName(number)}${detail === '' ? '' : `: ${detail}`}`);
    this.code = errnoName(number);
    this.errno = number;
  }
}
