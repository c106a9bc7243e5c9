import { SystemError } from './errno.ts';
import { type Libc, requireLibc } from './libc.ts';
import { scratch } from './memory.ts';
import { family, familyOf, readSocketAddress, socketAddressBytes, writeSocketAddress } from './socket-address.ts';

export const socketType = { stream: 1, datagram: 2 } as const;
/** Non-blocking and close-on-exec. */
export const newSocketFlags = 0x80800;

/** Level and name of socket options. */
export const option = {
  reuseAddress: [1, 2],
  reusePort: [1, 15],
  sendBuffer: [1, 7],
  receiveBuffer: [1, 8],
  receiveBufferForced: [1, 33],
  sendBufferForced: [1, 32],
  keepAlive: [1, 9],
  error: [1, 4],
  bindAddressNoPort: [0, 24],
  v6Only: [41, 26],
  noDelay: [6, 1],
  keepIdleSec: [6, 4],
  maxSegment: [6, 2],
  synRetries: [6, 7],
  windowClamp: [6, 10],
  /** UDP GRO: similar datagrams are received as one. */
  coalesce: [17, 104],
} as const satisfies Record<string, readonly [number, number]>;
const congestionOption = [6, 13] as const;
const tcpInfoOption = [6, 11] as const;
/** `tcpi_total_retrans` of `struct tcp_info`. */
const totalRetransmitsAt = 100;
type Option = (typeof option)[keyof typeof option];

const check = (libc: Libc, call: string, result: number): number => {
  if (result < 0) throw new SystemError(call, libc.errno());
  return result;
};

export const openSocket = (domain: number, type: number, protocol = 0): number => {
  const libc = requireLibc();
  return check(libc, 'socket', libc.socket(domain, type | newSocketFlags, protocol));
};

/** False if the kernel rejects it. */
export const trySetOption = (fd: number, [level, name]: Option, value: number): boolean => {
  const memory = scratch();
  memory.bytes.writeInt32LE(value, 0);
  return requireLibc().setsockopt(fd, level, name, memory.addressOf(0, 4), 4) === 0;
};

export const setOption = (fd: number, which: Option, value: number): void => {
  if (!trySetOption(fd, which, value)) throw new SystemError('setsockopt', requireLibc().errno());
};

/** False if the kernel does not support or permit it. */
export const trySetCongestion = (fd: number, name: string): boolean => {
  const memory = scratch();
  const length = memory.bytes.write(name, 0, 'latin1');
  const [level, number] = congestionOption;
  return requireLibc().setsockopt(fd, level, number, memory.addressOf(0, length), length) === 0;
};

/** The result of a connection attempt; 0 if it succeeded. */
export const pendingError = (fd: number): number => {
  const memory = scratch();
  memory.bytes.writeInt32LE(4, 8);
  const [level, name] = option.error;
  const libc = requireLibc();
  check(libc, 'getsockopt', libc.getsockopt(fd, level, name, memory.addressOf(0, 4), memory.addressOf(8, 4)));
  return memory.bytes.readInt32LE(0);
};

/** Segments that a TCP socket has sent again; resetting the connection sets it to 0. */
export const retransmitsOf = (fd: number): number => {
  const memory = scratch();
  const length = totalRetransmitsAt + 4;
  memory.bytes.writeInt32LE(length, 248);
  const [level, name] = tcpInfoOption;
  const isKnown =
    requireLibc().getsockopt(fd, level, name, memory.addressOf(0, length), memory.addressOf(248, 4)) === 0;
  return isKnown && memory.bytes.readInt32LE(248) === length ? memory.bytes.readUInt32LE(totalRetransmitsAt) : 0;
};

interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** `call`: the name used in the error. */
export const bindSocket = (fd: number, endpoint: Endpoint, call = 'bind'): void => {
  const memory = scratch();
  const length = writeSocketAddress(memory.bytes, 0, endpoint);
  const libc = requireLibc();
  if (libc.bind(fd, memory.addressOf(0, length), length) === 0) return;
  throw new SystemError(call, libc.errno(), `${endpoint.address}:${endpoint.port}`);
};

/** 0 if connected immediately, else an error number, usually `EINPROGRESS`. */
export const beginConnect = (fd: number, endpoint: Endpoint): number => {
  const memory = scratch();
  const length = writeSocketAddress(memory.bytes, 0, endpoint);
  const libc = requireLibc();
  return libc.connect(fd, memory.addressOf(0, length), length) === 0 ? 0 : libc.errno();
};

/** Aborts a connection; the peer receives a reset. */
export const disconnect = (fd: number): void => {
  const memory = scratch();
  memory.bytes.fill(0, 0, socketAddressBytes);
  memory.bytes.writeUInt16LE(family.unspecified, 0);
  requireLibc().connect(fd, memory.addressOf(0, 16), 16);
};

export const localEndpoint = (fd: number): Endpoint => {
  const memory = scratch();
  memory.bytes.writeInt32LE(socketAddressBytes, 64);
  const libc = requireLibc();
  const room = memory.addressOf(0, socketAddressBytes);
  check(libc, 'getsockname', libc.getsockname(fd, room, memory.addressOf(64, 4)));
  return readSocketAddress(memory.bytes, 0);
};

const shutdownWrite = 1;

/** Sends a FIN; data can still be read. */
export const shutDownWriting = (fd: number): void => void requireLibc().shutdown(fd, shutdownWrite);

export const closeSocket = (fd: number): void => void requireLibc().close(fd);

/** Runs the configuration steps on a socket; closes it if one fails. */
export const configureOrClose = (fd: number, steps: (fd: number) => void): number => {
  try {
    steps(fd);
    return fd;
  } catch (error) {
    closeSocket(fd);
    throw error;
  }
};

export const openListener = (
  listen: { readonly address: string; readonly port: number; readonly isShared: boolean },
  backlog: number,
): number =>
  configureOrClose(openSocket(familyOf(listen.address), socketType.stream), (fd) => {
    setOption(fd, option.reuseAddress, 1);
    if (listen.isShared) setOption(fd, option.reusePort, 1);
    if (familyOf(listen.address) === family.inet6) setOption(fd, option.v6Only, 0);
    bindSocket(fd, listen, 'listen');
    const libc = requireLibc();
    check(libc, 'listen', libc.listen(fd, backlog));
  });
