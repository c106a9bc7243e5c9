import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Listen } from '@rushhour/protocol';
import { type EpollPoller, epollEvent, epollPoller } from '../epoll/epoll-poller.ts';
import { SystemError } from '../kernel/errno.ts';
import {
  beginConnect,
  bindSocket,
  configured,
  openSocket,
  option,
  setOption,
  socketType,
  trySetOption,
} from '../kernel/socket.ts';
import { family, familyOf } from '../kernel/socket-address.ts';
import { turnLoop } from '../loop/kernel-event-loop.ts';
import type { Route } from '../transport/transport.ts';
import type { DatagramEvents, DatagramOptions, DatagramSocket, Datagrams } from './datagrams.ts';
import { MessageBatch } from './message-batch.ts';
import { MmsgSocket } from './mmsg-socket.ts';

const arrivingCount = 128;
// Packets that arrive as one may be as long as any.
const arrivingBytes = 65_535;
let arriving: MessageBatch | undefined;

/** Shared by all sockets of the thread: packets are handled before the next are read. */
const arrivingBatch = (): MessageBatch => {
  arriving ??= new MessageBatch({ count: arrivingCount, bytes: arrivingBytes, isNamed: true, isCoalesced: true });
  return arriving;
};

const widen = (fd: number, bytes: number): void => {
  if (bytes > 0 && !trySetOption(fd, option.receiveBufferForced, bytes)) {
    setOption(fd, option.receiveBuffer, bytes);
  }
};

/** UDP by `sendmmsg` and `recvmmsg`: the packets of one turn in one call. */
class MmsgDatagrams implements Datagrams {
  readonly name = 'sendmmsg';
  readonly #poller: EpollPoller = epollPoller();
  readonly #sockets = new Set<MmsgSocket>();

  constructor() {
    turnLoop.acquire();
  }

  readonly createAlarm = (ring: () => void) => turnLoop.createAlarm(ring);

  async connect(route: Route, options: DatagramOptions, events: DatagramEvents): Promise<DatagramSocket> {
    const fd = configured(openSocket(familyOf(route.address), socketType.datagram), (made) => {
      widen(made, options.receiveBufferBytes);
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
    const fd = configured(openSocket(familyOf(address), socketType.datagram), (made) => {
      if (where.isShared) setOption(made, option.reusePort, 1);
      if (familyOf(address) === family.inet6) setOption(made, option.v6Only, 0);
      widen(made, options.receiveBufferBytes);
      bindSocket(made, { address, port: where.port });
    });
    const socket = this.#create(fd, options, true);
    socket.events = createEvents(socket);
    return socket;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.close();
    turnLoop.release();
  }

  #create(fd: number, { leaving, mayJoin = false }: DatagramOptions, isNamed: boolean): MmsgSocket {
    if (mayJoin) trySetOption(fd, option.coalesce, 1);
    const batch = new MessageBatch({ ...leaving, isNamed });
    const socket = new MmsgSocket(fd, this.#poller, { arriving: arrivingBatch(), leaving: batch, mayJoin });
    this.#sockets.add(socket);
    const { in: readable, out, edge } = epollEvent;
    this.#poller.add(fd, readable | out | edge, socket);
    return socket;
  }
}

export const createMmsgDatagrams = (): Datagrams => new MmsgDatagrams();
