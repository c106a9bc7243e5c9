import { closeSync, openSync } from 'node:fs';
import { SystemError } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { closeSocket } from '../kernel/socket.ts';
import { attachProgramTo } from './bpf.ts';

const call = process.arch === 'x64' ? { unshare: 272, setns: 308 } : { unshare: 97, setns: 268 };
const newNetwork = 0x4000_0000;
const loopbackIndex = 1;
const ownNetwork = '/proc/thread-self/ns/net';

/** Runs a step in a network of its own, where it disturbs nobody; the thread comes back whatever happens. */
const elsewhere = <T>(step: () => T): T => {
  const libc = requireLibc();
  const home = openSync(ownNetwork, 'r');
  try {
    if (libc.syscall(call.unshare, newNetwork, 0, 0, 0, 0, 0) < 0) throw new SystemError('unshare', libc.errno());
    try {
      return step();
    } finally {
      if (libc.syscall(call.setns, home, newNetwork, 0, 0, 0, 0) < 0)
        // Here no frame could leave, and no other work go on.
        process.abort();
    }
  } finally {
    closeSync(home);
  }
};

/**
 * Keeps a program among those that are in use: otherwise each run would enter and leave it, and wait for all processors
 * to take notice, which takes longer than the run. It is attached to an interface that nobody else sees.
 */
export const anchorProgram = (program: number): { close(): void } => {
  const { network, link } = elsewhere(() => {
    const opened = openSync(ownNetwork, 'r');
    try {
      return { network: opened, link: attachProgramTo(program, loopbackIndex, 'generic') };
    } catch (error) {
      closeSync(opened);
      throw error;
    }
  });
  return {
    close() {
      closeSocket(link);
      closeSync(network);
    },
  };
};
