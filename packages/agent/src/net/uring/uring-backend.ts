import { requireLibc } from '../kernel/libc.ts';
import { closeSocket } from '../kernel/socket.ts';
import type { SocketBackend } from '../transport/socket-transport.ts';
import { acceptFlag, cqeFlag, opcode } from './ring-layout.ts';
import { UringConnection } from './uring-connection.ts';
import { kind, type UringPoller, uringPoller } from './uring-poller.ts';

const shutdownBoth = 2;

const accept = (poller: UringPoller, fd: number, onAccepted: (fd: number) => void): (() => void) => {
  let isStopped = false;
  const arm = (slot: number) => {
    const at = poller.ring.request(opcode.accept, fd, poller.tokenOf(slot, kind.accept));
    poller.ring.setFlags(at, 0, acceptFlag.multishot);
  };
  const slot = poller.takeSlot({
    complete(_, result, flags) {
      if (result >= 0 && isStopped) closeSocket(result);
      else if (result >= 0) onAccepted(result);
      if ((flags & cqeFlag.more) !== 0) return;
      if (!isStopped) poller.defer(() => !isStopped && arm(slot));
      else {
        closeSocket(fd);
        poller.freeSlot(slot);
      }
    },
  });
  arm(slot);
  return () => {
    isStopped = true;
    // Ends the multishot accept; only then can the socket be closed.
    requireLibc().shutdown(fd, shutdownBoth);
  };
};

/** Sockets on io_uring: all readSize, writes and closes of one event loop iteration in one system call. */
export const uringBackend = (): SocketBackend => {
  const poller = uringPoller();
  return {
    name: 'io_uring',
    get now() {
      return poller.now;
    },
    create: ({ readSize, closesImmediately }, onClosed) =>
      new UringConnection(poller, {
        buffers: poller.buffers[readSize],
        closesImmediately,
        onClosed,
      }),
    accept: (fd, onAccepted) => accept(poller, fd, onAccepted),
    defer: (action) => poller.defer(action),
  };
};
