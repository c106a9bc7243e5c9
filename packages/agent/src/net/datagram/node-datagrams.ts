import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { createNodeAlarm } from '../loop/alarm.ts';
import { codeOf } from '../metrics/count-error.ts';
import { closeSockets } from './bind-all.ts';
import type { Datagram, DatagramEvents, DatagramSocket, Datagrams } from './datagrams.ts';
import { Turns } from './iteration-quota.ts';

const packetsPerTurn = 128;

interface NodeDatagram extends Datagram {
  readonly peer: RemoteInfo;
}

const numbers = new Map<string, number>();
const numberOf = ({ address, port }: RemoteInfo): number => {
  const key = `${address} ${port}`;
  const number = numbers.get(key) ?? numbers.size;
  numbers.set(key, number);
  return number;
};

class NodeDatagramSocket implements DatagramSocket {
  events!: DatagramEvents;
  readonly #socket: Socket;
  readonly #turns: Turns;

  constructor(socket: Socket, turns: Turns) {
    this.#socket = socket;
    this.#turns = turns;
    socket.on('error', (error) => this.events.onError(codeOf(error)));
    socket.on('message', (bytes, peer) => {
      const now = performance.now();
      const datagram: NodeDatagram = { bytes, start: 0, end: bytes.length, now, from: numberOf(peer), index: 0, peer };
      this.events.onMessage(datagram);
    });
  }

  send(bytes: Uint8Array, token: number): void {
    this.#socket.send(Uint8Array.from(bytes), (error) => this.#settle(error, token));
  }

  reply(datagram: Datagram, bytes: Uint8Array, token: number): void {
    this.replyLater(datagram)(bytes, token);
  }

  replyLater(datagram: Datagram) {
    const { port, address } = (datagram as NodeDatagram).peer;
    return (bytes: Uint8Array, token: number) =>
      this.#socket.send(Uint8Array.from(bytes), port, address, (error) => this.#settle(error, token));
  }

  #settle(error: Error | null, token: number): void {
    if (error) this.events.onFail(token, codeOf(error));
    else this.#turns.pass(() => this.events.onSent(token, performance.now()));
  }
}

const opened = async (socket: Socket, address: { address?: string; port?: number }): Promise<void> => {
  socket.bind(address);
  await once(socket, 'listening');
};

/** UDP by Node's own sockets: one call for each packet. */
export const createNodeDatagrams = (): Datagrams => {
  const turns = new Turns(packetsPerTurn);
  const sockets: Socket[] = [];
  const create = (options: Parameters<typeof createSocket>[0]): Socket => {
    const socket = createSocket(options);
    sockets.push(socket);
    return socket;
  };
  return {
    name: 'node:dgram',
    createAlarm: createNodeAlarm,
    async connect({ address, port, localAddress, localPort }, { receiveBufferBytes }, events) {
      const socket = create({ type: isIPv6(address) ? 'udp6' : 'udp4' });
      await opened(socket, { ...(localAddress && { address: localAddress }), ...(localPort && { port: localPort }) });
      socket.connect(port, address);
      await once(socket, 'connect');
      if (receiveBufferBytes > 0) socket.setRecvBufferSize(receiveBufferBytes);
      const made = new NodeDatagramSocket(socket, turns);
      made.events = events;
      return made;
    },
    async bind({ host, port, isShared }, { receiveBufferBytes }, createEvents) {
      const socket = create({ type: isIPv6(host) ? 'udp6' : 'udp4', reusePort: isShared });
      await opened(socket, { address: host, port });
      if (receiveBufferBytes > 0) socket.setRecvBufferSize(receiveBufferBytes);
      const made = new NodeDatagramSocket(socket, turns);
      made.events = createEvents(made);
      return made;
    },
    close: () => closeSockets(sockets.splice(0)),
  };
};
