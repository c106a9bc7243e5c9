import { requireLibc } from '../kernel/libc.ts';
import { closeSocket } from '../kernel/socket.ts';
import type { SocketSystem } from '../transport/socket-transport.ts';
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
      if (!isStopped) poller.soon(() => !isStopped && arm(slot));
      else {
        closeSocket(fd);
        poller.freeSlot(slot);
      }
    },
  });
  arm(slot);
  return () => {
    isStopped = true;
    // Ends the request that accepts; only then is the socket free to go.
    requireLibc().shutdown(fd, shutdownBoth);
  };
};

/** Sockets served by io_uring: every read, write and end of one turn travels in one call. */
export const uringSystem = (): SocketSystem => {
  const poller = uringPoller();
  return {
    name: 'io_uring',
    get now() {
      return poller.now;
    },
    create: ({ reads, leavesAtOnce }, onGone) =>
      new UringConnection(poller, { buffers: poller.buffers[reads], leavesAtOnce, onGone }),
    accept: (fd, onAccepted) => accept(poller, fd, onAccepted),
    soon: (action) => poller.soon(action),
  };
};
