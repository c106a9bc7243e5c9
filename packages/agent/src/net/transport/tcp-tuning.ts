import { readFileSync } from 'node:fs';
import type { TcpTuning } from '@rushhour/protocol';
import { SystemError } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import {
  closeSocket,
  openSocket,
  option,
  setOption,
  socketType,
  trySetCongestion,
  trySetOption,
} from '../kernel/socket.ts';
import { family } from '../kernel/socket-address.ts';

/**
 * The limit alone would be raised by the kernel as data comes; the buffer, of which a window is never more than the
 * whole, is what it keeps to. The kernel makes it twice as large as it is told.
 */
const limitWindow = (fd: number, bytes: number): void => {
  const room = Math.floor(bytes / 2);
  if (!trySetOption(fd, option.receiveBufferForced, room)) setOption(fd, option.receiveBuffer, room);
  setOption(fd, option.windowClamp, bytes);
};

/** For a socket that is not connected yet, or one that listens: those it accepts inherit it. */
export const tuneSocket = (fd: number, { mss, window, congestion, synRetries }: TcpTuning): void => {
  if (mss !== undefined) setOption(fd, option.maxSegment, mss);
  if (window !== undefined) limitWindow(fd, window);
  if (synRetries !== undefined) setOption(fd, option.synRetries, synRetries);
  if (congestion !== undefined && !trySetCongestion(fd, congestion))
    throw new SystemError('setsockopt', requireLibc().errno(), congestion);
};

/** A wish that this machine cannot fulfil. */
class TuningRefused extends Error {
  readonly code = 'TCP_TUNING_REFUSED';
}

const available = '/proc/sys/net/ipv4/tcp_available_congestion_control';

/** Throws before there is any traffic. Only a congestion control can be missing. */
export const assertTunable = (tuning: TcpTuning): void => {
  const fd = openSocket(family.inet, socketType.stream);
  try {
    tuneSocket(fd, tuning);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    const there = readFileSync(available, 'utf8').trim();
    throw new TuningRefused(`no congestion control ${tuning.congestion} here (${error.code}): there are ${there}`);
  } finally {
    closeSocket(fd);
  }
};
