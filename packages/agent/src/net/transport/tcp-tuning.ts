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
 * The window clamp alone would be raised by the kernel as data arrives; the receive buffer, which bounds the window, is
 * not. The kernel doubles the value it is given.
 */
const limitWindow = (fd: number, bytes: number): void => {
  const bufferBytes = Math.floor(bytes / 2);
  if (!trySetOption(fd, option.receiveBufferForced, bufferBytes)) setOption(fd, option.receiveBuffer, bufferBytes);
  setOption(fd, option.windowClamp, bytes);
};

/** For a socket before it is connected, or a listening one: accepted sockets inherit the options. */
export const tuneSocket = (fd: number, { mss, window, congestion, synRetries }: TcpTuning): void => {
  if (mss !== undefined) setOption(fd, option.maxSegment, mss);
  if (window !== undefined) limitWindow(fd, window);
  if (synRetries !== undefined) setOption(fd, option.synRetries, synRetries);
  if (congestion !== undefined && !trySetCongestion(fd, congestion))
    throw new SystemError('setsockopt', requireLibc().errno(), congestion);
};

/** The machine does not support a TCP option of the job. */
class TuningRefused extends Error {
  readonly code = 'TCP_TUNING_REFUSED';
}

const available = '/proc/sys/net/ipv4/tcp_available_congestion_control';

/** Checks the options before any traffic. Only the congestion control can be missing. */
export const assertTunable = (tuning: TcpTuning): void => {
  const fd = openSocket(family.inet, socketType.stream);
  try {
    tuneSocket(fd, tuning);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    const installed = readFileSync(available, 'utf8').trim();
    throw new TuningRefused(`no congestion control ${tuning.congestion} here (${error.code}): there are ${installed}`);
  } finally {
    closeSocket(fd);
  }
};
