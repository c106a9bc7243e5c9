import { requireLibc } from '../kernel/libc.ts';
import { type Memory, mapMemory } from '../kernel/memory.ts';
import { closeSocket, newSocketFlags } from '../kernel/socket.ts';
import type { SocketBackend } from '../transport/socket-transport.ts';
import { EpollConnection } from './epoll-connection.ts';
import { type EpollPoller, epollEvent, epollPoller } from './epoll-poller.ts';

const acceptsPerIteration = 64;
const readBytes = { small: 65_536, large: 524_288 } as const;
const buffers = new Map<string, Memory>();

const bufferOf = (readSize: keyof typeof readBytes): Memory => {
  const buffer = buffers.get(readSize) ?? mapMemory({ length: readBytes[readSize] });
  buffers.set(readSize, buffer);
  return buffer;
};

const accept = (poller: EpollPoller, fd: number, onAccepted: (fd: number) => void): (() => void) => {
  const libc = requireLibc();
  poller.add(fd, epollEvent.in, {
    ready() {
      for (let count = 0; count < acceptsPerIteration; count++) {
        const accepted = libc.accept4(fd, 0, 0, newSocketFlags);
        if (accepted < 0) return;
        onAccepted(accepted);
      }
    },
  });
  return () => {
    poller.forget(fd);
    closeSocket(fd);
  };
};

/** Sockets on epoll, with one system call per read and write. */
export const epollBackend = (): SocketBackend => {
  const poller = epollPoller();
  return {
    name: 'epoll',
    get now() {
      return poller.now;
    },
    create: ({ readSize, closesImmediately }, onClosed) =>
      new EpollConnection(poller, { buffer: bufferOf(readSize), closesImmediately, onClosed }),
    accept: (fd, onAccepted) => accept(poller, fd, onAccepted),
    defer: (action) => poller.defer(action),
  };
};
