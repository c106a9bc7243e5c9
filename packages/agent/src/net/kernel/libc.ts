import { createRequire } from 'node:module';

/** The part of koffi used here; its own types would pull in everything. */
interface Koffi {
  load(path: null): { func(declaration: string): (...args: never[]) => unknown };
  view(address: bigint, length: number): ArrayBuffer;
}

// Addresses are plain numbers: user addresses are below 2^48, and koffi converts a number twice as fast as a pointer.
const declarations = {
  socket: 'int socket(int domain, int type, int protocol)',
  bind: 'int bind(int fd, uintptr_t address, int length)',
  connect: 'int connect(int fd, uintptr_t address, int length)',
  listen: 'int listen(int fd, int backlog)',
  accept4: 'int accept4(int fd, uintptr_t address, uintptr_t length, int flags)',
  getsockname: 'int getsockname(int fd, uintptr_t address, uintptr_t length)',
  getpeername: 'int getpeername(int fd, uintptr_t address, uintptr_t length)',
  setsockopt: 'int setsockopt(int fd, int level, int name, uintptr_t value, int length)',
  getsockopt: 'int getsockopt(int fd, int level, int name, uintptr_t value, uintptr_t length)',
  send: 'long send(int fd, uintptr_t bytes, size_t length, int flags)',
  recv: 'long recv(int fd, uintptr_t bytes, size_t length, int flags)',
  sendmmsg: 'int sendmmsg(int fd, uintptr_t messages, uint count, int flags)',
  recvmmsg: 'int recvmmsg(int fd, uintptr_t messages, uint count, int flags, uintptr_t timeout)',
  shutdown: 'int shutdown(int fd, int how)',
  close: 'int close(int fd)',
  mmap: 'uintptr_t mmap(uintptr_t hint, size_t length, int protection, int flags, int fd, long offset)',
  munmap: 'int munmap(uintptr_t address, size_t length)',
  madvise: 'int madvise(uintptr_t address, size_t length, int advice)',
  sched_setscheduler: 'int sched_setscheduler(int thread, int policy, uintptr_t parameter)',
  prctl: 'int prctl(int option, ulong a, ulong b, ulong c, ulong d)',
  syscall: 'long syscall(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f)',
} as const;

const asynchronousCancel = 1;

/** Node's own event loop. */
export interface NodeLoop {
  /** The descriptor it polls. */
  readonly fd: number;
  /** Milliseconds from the start of its iteration until it has work; 0: immediately, negative: nothing is scheduled. */
  idleMs(): number;
}

export type Libc = { readonly [Name in keyof typeof declarations]: (...args: number[]) => number } & {
  /** The error number of the last failed call on this thread. */
  errno(): number;
  /** A view of memory at an address; only `mapMemory` may use it. */
  view(address: number, length: number): ArrayBuffer;
  /** Gives the kernel the memory that was freed; does nothing where the library has no such call. */
  trimHeap(): void;
  /** The event loop of the main thread. */
  mainLoop(): NodeLoop;
};

/** Only glibc has it. */
const declareTrim = (declare: (declaration: string) => (...args: number[]) => number) => {
  try {
    return declare('int malloc_trim(size_t pad)');
  } catch {
    return () => 0;
  }
};

const load = (): Libc => {
  // Not a static import: the agent has to start where koffi does not load.
  const require = createRequire(import.meta.url);
  const koffi = require('koffi') as Koffi;
  const library = koffi.load(null);
  const declare = (declaration: string) => library.func(declaration) as (...args: number[]) => number;
  // Node never cancels threads. With asynchronous cancellation, calls such as `send` skip the preparation for it.
  declare('int pthread_setcanceltype(int type, uintptr_t before)')(asynchronousCancel, 0);
  let trim: ReturnType<typeof declare> | undefined;
  const calls = Object.fromEntries(Object.entries(declarations).map(([name, text]) => [name, declare(text)]));
  // `errno` has a fixed address per thread; calling a function for it would cost as much as the failed call.
  const errorNumber = new Int32Array(koffi.view(BigInt(declare('uintptr_t __errno_location()')()), 4));
  return {
    ...(calls as Pick<Libc, keyof typeof declarations>),
    errno: () => errorNumber[0] as number,
    view: (address, length) => koffi.view(BigInt(address), length),
    trimHeap: () => {
      trim ??= declareTrim(declare);
      trim(0);
    },
    mainLoop: () => {
      const loop = declare('uintptr_t uv_default_loop()')();
      const timeout = declare('int uv_backend_timeout(uintptr_t loop)');
      return { fd: declare('int uv_backend_fd(uintptr_t loop)')(loop), idleMs: () => timeout(loop) };
    },
  };
};

let loaded: { readonly libc: Libc } | { readonly reason: string } | undefined;

const tryLoad = (): NonNullable<typeof loaded> => {
  if (process.platform !== 'linux') return { reason: `no direct system calls on ${process.platform}` };
  if (process.arch !== 'x64' && process.arch !== 'arm64')
    return { reason: `no direct system calls on ${process.arch}` };
  try {
    return { libc: load() };
  } catch (error) {
    return { reason: `no direct system calls: ${(error as Error).message.split('\n')[0]}` };
  }
};

/** The C library, or why it cannot be called. */
export const findLibc = (): NonNullable<typeof loaded> => {
  loaded ??= tryLoad();
  return loaded;
};

/** Call only where `findLibc` has succeeded. */
export const requireLibc = (): Libc => {
  const found = findLibc();
  if ('libc' in found) return found.libc;
  throw new Error(found.reason);
};
