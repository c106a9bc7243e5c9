import { constants } from 'node:os';

const names = new Map<number, string>(Object.entries(constants.errno).map(([name, number]) => [number, name]));
// Node leaves out what only newer calls answer.
for (const [number, name] of [
  [38, 'ENOSYS'],
  [95, 'EOPNOTSUPP'],
  [113, 'EHOSTUNREACH'],
] as const)
  names.set(number, name);

const { EAGAIN, EBUSY, EINPROGRESS, EINTR, EINVAL, EIO, EMSGSIZE, ENETDOWN, ENOBUFS, ENODEV, ENXIO } = constants.errno;
/** Those that are looked for. In Node's table of all of them V8 has to search each time. */
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

/** What the kernel calls an error number, such as `ECONNREFUSED`. */
export const errnoName = (number: number): string => names.get(number) ?? `E${number}`;

/** A system call that failed, shaped as Node's own are: `code` is what engines count. */
export class SystemError extends Error {
  readonly code: string;
  readonly errno: number;
  constructor(call: string, number: number, where = '') {
    super(`${call} ${errnoName(number)}${where === '' ? '' : `: ${where}`}`);
    this.code = errnoName(number);
    this.errno = number;
  }
}
