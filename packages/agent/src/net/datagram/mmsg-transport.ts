import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Listen } from '@rushhour/protocol';
import { type EpollPoller, epollEvent, epollPoller } from '../epoll/epoll-poller.ts';
import { SystemError } from '../kernel/errno.ts';
import {
  beginConnect,
  bindSocket,
  configureOrClose,
  openSocket,
  option,
  setOption,
  socketType,
  trySetOption,
} from '../kernel/socket.ts';
import { family, familyOf } from '../kernel/socket-address.ts';
import { kernelEventLoop } from '../loop/kernel-event-loop.ts';
import type { Route } from '../transport/transport.ts';
import type { DatagramEvents, DatagramOptions, DatagramSocket, DatagramTransport } from './datagram-transport.ts';
import { MessageBatch } from './message-batch.ts';
import { MmsgSocket } from './mmsg-socket.ts';

const receiveCount = 128;
// Coalesced datagrams can be as long as the largest datagram.
const receiveBytes = 65_535;
let sharedReceiveBatch: MessageBatch | undefined;

/** Shared by all sockets of the thread: datagrams are handled before the next are read. */
const receiveBatch = (): MessageBatch => {
  sharedReceiveBatch ??= new MessageBatch({
    count: receiveCount,
    bytes: receiveBytes,
    hasPeers: true,
    acceptsCoalesced: true,
  });
  return sharedReceiveBatch;
};

const setReceiveBuffer = (fd: number, bytes: number): void => {
  if (bytes > 0 && !trySetOption(fd, option.receiveBufferForced, bytes)) {
    setOption(fd, option.receiveBuffer, bytes);
  }
};

/** UDP by `sendmmsg` and `recvmmsg`: all datagrams of one event loop iteration in one call. */
class MmsgTransport implements DatagramTransport {
  readonly name = 'sendmmsg';
  readonly #poller: EpollPoller = epollPoller();
  readonly #sockets = new Set<MmsgSocket>();

  constructor() {
    kernelEventLoop.acquire();
  }

  readonly createAlarm = (ring: () => void) => kernelEventLoop.createAlarm(ring);

  async connect(route: Route, options: DatagramOptions, events: DatagramEvents): Promise<DatagramSocket> {
    const fd = configureOrClose(openSocket(familyOf(route.address), socketType.datagram), (made) => {
      setReceiveBuffer(made, options.receiveBufferBytes);
      const { address, localAddress = address.includes(':') ? '::' : '0.0.0.0', localPort = 0 } = route;
      if (route.localAddress !== undefined || localPort > 0)
        bindSocket(made, { address: localAddress, port: localPort });
      const error = beginConnect(made, route);
      if (error !== 0) throw new SystemError('connect', error);
    });
    const socket = this.#create(fd, options, false);
    socket.events = events;
    return socket;
  }

  async bind(
    where: Listen & { readonly isShared: boolean },
    options: DatagramOptions,
    createEvents: (socket: DatagramSocket) => DatagramEvents,
  ): Promise<DatagramSocket> {
    const address = isIP(where.host) === 0 ? (await lookup(where.host)).address : where.host;
    const fd = configureOrClose(openSocket(familyOf(address), socketType.datagram), (made) => {
      if (where.isShared) setOption(made, option.reusePort, 1);
      if (familyOf(address) === family.inet6) setOption(made, option.v6Only, 0);
      setReceiveBuffer(made, options.receiveBufferBytes);
      bindSocket(made, { address, port: where.port });
    });
    const socket = this.#create(fd, options, true);
    socket.events = createEvents(socket);
    return socket;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.close();
    kernelEventLoop.release();
  }

  #create(fd: number, { sendBatch, usesSegmentation = false }: DatagramOptions, hasPeers: boolean): MmsgSocket {
    if (usesSegmentation) trySetOption(fd, option.coalesce, 1);
    const batch = new MessageBatch({ ...sendBatch, hasPeers });
    const socket = new MmsgSocket(fd, this.#poller, {
      receiveBatch: receiveBatch(),
      sendBatch: batch,
      usesSegmentation,
    });
    this.#sockets.add(socket);
    const { in: readable, out, edge } = epollEvent;
    this.#poller.add(fd, readable | out | edge, socket);
    return socket;
  }
}

export const createMmsgTransport = (): DatagramTransport => new MmsgTransport();
