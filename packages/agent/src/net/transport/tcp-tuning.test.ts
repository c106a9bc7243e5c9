import { expect, it } from 'vitest';
import { requireLibc } from '../kernel/libc.ts';
import { scratch } from '../kernel/memory.ts';
import { closeSocket, openSocket, option, socketType } from '../kernel/socket.ts';
import { familyOf } from '../kernel/socket-address.ts';
import { tuneSocket } from './tcp-tuning.ts';

const read = (fd: number, [level, name]: readonly [number, number]): number => {
  const memory = scratch();
  memory.bytes.writeInt32LE(4, 8);
  requireLibc().getsockopt(fd, level, name, memory.addressOf(0, 4), memory.addressOf(8, 4));
  return memory.bytes.readInt32LE(0);
};

it.each(['127.0.0.1', '::1'])('sockets to %s have the requested options', (address) => {
  const tuning = { mss: 1000, window: 30_000, synRetries: 2, congestion: 'reno' };
  const fd = openSocket(familyOf(address), socketType.stream);
  try {
    tuneSocket(fd, tuning);
    expect([option.maxSegment, option.windowClamp, option.synRetries].map((which) => read(fd, which))).toEqual([
      1000, 30_000, 2,
    ]);
  } finally {
    closeSocket(fd);
  }
});
