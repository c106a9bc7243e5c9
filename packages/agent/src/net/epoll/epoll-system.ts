import { requireLibc } from '../kernel/libc.ts';
import { type Memory, mapMemory } from '../kernel/memory.ts';
import { closeSocket, newSocketFlags } from '../kernel/socket.ts';
import type { SocketSystem } from '../transport/socket-transport.ts';
import { EpollConnection } from './epoll-connection.ts';
import { type EpollPoller, epollEvent, epollPoller } from './epoll-poller.ts';

const acceptsPerTurn = 64;
const readBytes = { small: 65_536, large: 524_288 } as const;
const buffers = new Map<string, Memory>();

const bufferOf = (reads: keyof typeof readBytes): Memory => {
  const buffer = buffers.get(reads) ?? mapMemory({ length: readBytes[reads] });
  buffers.set(reads, buffer);
  return buffer;
};

const accept = (poller: EpollPoller, fd: number, onAccepted: (fd: number) => void): (() => void) => {
  const libc = requireLibc();
  poller.add(fd, epollEvent.in, {
    ready() {
      for (let count = 0; count < acceptsPerTurn; count++) {
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

/** Sockets served by epoll and one call for each read and write. */
export const epollSystem = (): SocketSystem => {
  const poller = epollPoller();
  return {
    name: 'epoll',
    get now() {
      return poller.now;
    },
    create: ({ reads, leavesAtOnce }, onGone) =>
      new EpollConnection(poller, { buffer: bufferOf(reads), leavesAtOnce, onGone }),
    accept: (fd, onAccepted) => accept(poller, fd, onAccepted),
    soon: (action) => poller.soon(action),
  };
};
