import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import { SystemError } from './kernel/errno.ts';
import { findLibc } from './kernel/libc.ts';
import { mapMemory } from './kernel/memory.ts';
import { closeSocket } from './kernel/socket.ts';
import { BufferRing } from './uring/buffer-ring.ts';
import { Ring, supportedOperations } from './uring/ring.ts';
import { opcode } from './uring/ring-layout.ts';

const epollWait2 = 441;

const isDisabledBySetting = (): boolean => {
  try {
    return Number(readFileSync('/proc/sys/kernel/io_uring_disabled', 'utf8')) > 0;
  } catch {
    return false;
  }
};

/** Why the kernel refused a ring, in terms an administrator can act on. */
const refusalOf = (error: unknown): string => {
  if (!(error instanceof SystemError)) return (error as Error).message;
  if (error.code === 'ENOSYS') return `kernel ${release()} has no io_uring`;
  if (error.code === 'EINVAL') return `kernel ${release()} is older than 6.1`;
  if (error.code === 'ENOMEM') return 'too little memory may be locked for io_uring';
  if (error.code !== 'EPERM' && error.code !== 'EACCES') return error.message;
  return isDisabledBySetting() ? 'kernel.io_uring_disabled forbids it' : 'a seccomp filter or missing right forbids it';
};

const tryUring = (): string | undefined => {
  const found = findLibc();
  if ('reason' in found) return found.reason;
  let ring: Ring | undefined;
  try {
    ring = new Ring({ entries: 8, completions: 16 });
    const wanted = Object.values(opcode);
    const missing = wanted.filter((operation) => !supportedOperations(ring as Ring, wanted).has(operation));
    if (missing.length > 0) return `kernel ${release()} lacks operations of io_uring`;
    new BufferRing(ring, { group: 0, count: 1, first: 1, bytes: 4096 });
    return undefined;
  } catch (error) {
    return `no io_uring: ${refusalOf(error)}`;
  } finally {
    ring?.close();
  }
};

const tryEpoll = (): string | undefined => {
  const found = findLibc();
  if ('reason' in found) return found.reason;
  const { libc } = found;
  const memory = mapMemory({ length: 64 });
  const fd = libc.syscall(process.arch === 'x64' ? 291 : 20, 0, 0, 0, 0, 0, 0);
  const count = libc.syscall(epollWait2, fd, memory.addressOf(0, 16), 1, memory.addressOf(16, 16), 0, 0);
  const error = libc.errno();
  if (fd >= 0) closeSocket(fd);
  memory.release();
  return count < 0 ? `no epoll_pwait2: ${new SystemError('epoll_pwait2', error).code}` : undefined;
};

const once = (probe: () => string | undefined): (() => string | undefined) => {
  let known: { readonly reason: string | undefined } | undefined;
  return () => {
    known ??= { reason: probe() };
    return known.reason;
  };
};

/** Why io_uring is not available, determined once; undefined if it is. */
export const probeUring = once(tryUring);

/** Why epoll cannot be used through direct system calls; undefined if it can. */
export const probeEpoll = once(tryEpoll);
