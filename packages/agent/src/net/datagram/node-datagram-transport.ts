import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { createNodeAlarm } from '../loop/alarm.ts';
import { errorCodeOf } from '../metrics/count-error.ts';
import { closeSockets } from './bind-all.ts';
import type { Datagram, DatagramEvents, DatagramSocket, DatagramTransport } from './datagram-transport.ts';

/**
 * Limits how many actions run in one iteration of the event loop and defers the rest. A datagram that the kernel
 * accepts at once calls back before the next iteration, so a sender that sends again in the callback would starve
 * timers and other sockets.
 */
export class IterationQuota {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #count = 0;
  #isScheduled = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  run(action: () => void): void {
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(this.#nextIteration);
    }
    if (this.#count++ < this.#limit) action();
    else this.#waiting.push(action);
  }

  readonly #nextIteration = (): void => {
    this.#isScheduled = false;
    this.#count = 0;
    for (const action of this.#waiting.splice(0, this.#limit)) this.run(action);
    if (this.#waiting.length > 0 && !this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(this.#nextIteration);
    }
  };
}

const callbacksPerIteration = 128;

interface NodeDatagram extends Datagram {
  readonly peer: RemoteInfo;
}

const peerIds = new Map<string, number>();
const peerIdOf = ({ address, port }: RemoteInfo): number => {
  const key = `${address} ${port}`;
  const number = peerIds.get(key) ?? peerIds.size;
  peerIds.set(key, number);
  return number;
};

class NodeDatagramSocket implements DatagramSocket {
  events!: DatagramEvents;
  readonly #socket: Socket;
  readonly #quota: IterationQuota;

  constructor(socket: Socket, quota: IterationQuota) {
    this.#socket = socket;
    this.#quota = quota;
    socket.on('error', (error) => this.events.onError(errorCodeOf(error)));
    socket.on('message', (bytes, peer) => {
      const now = performance.now();
      const datagram: NodeDatagram = { bytes, start: 0, end: bytes.length, now, from: peerIdOf(peer), index: 0, peer };
      this.events.onMessage(datagram);
    });
  }

  send(bytes: Uint8Array, token: number): void {
    this.#socket.send(Uint8Array.from(bytes), (error) => this.#settle(error, token));
  }

  reply(datagram: Datagram, bytes: Uint8Array, token: number): void {
    this.createReply(datagram)(bytes, token);
  }

  createReply(datagram: Datagram) {
    const { port, address } = (datagram as NodeDatagram).peer;
    return (bytes: Uint8Array, token: number) =>
      this.#socket.send(Uint8Array.from(bytes), port, address, (error) => this.#settle(error, token));
  }

  close(): void {
    this.#socket.close();
  }

  #settle(error: Error | null, token: number): void {
    if (error) this.events.onFail(token, errorCodeOf(error));
    else this.#quota.run(() => this.events.onSent(token, performance.now()));
  }
}

const bindSocket = async (socket: Socket, address: { address?: string; port?: number }): Promise<void> => {
  socket.bind(address);
  await once(socket, 'listening');
};

/** UDP on Node's sockets: one system call per datagram. */
export const createNodeDatagramTransport = (): DatagramTransport => {
  const quota = new IterationQuota(callbacksPerIteration);
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
      await bindSocket(socket, {
        ...(localAddress && { address: localAddress }),
        ...(localPort && { port: localPort }),
      });
      socket.connect(port, address);
      await once(socket, 'connect');
      if (receiveBufferBytes > 0) socket.setRecvBufferSize(receiveBufferBytes);
      const made = new NodeDatagramSocket(socket, quota);
      made.events = events;
      return made;
    },
    async bind({ host, port, isShared }, { receiveBufferBytes }, createEvents) {
      const socket = create({ type: isIPv6(host) ? 'udp6' : 'udp4', reusePort: isShared });
      await bindSocket(socket, { address: host, port });
      if (receiveBufferBytes > 0) socket.setRecvBufferSize(receiveBufferBytes);
      const made = new NodeDatagramSocket(socket, quota);
      made.events = createEvents(made);
      return made;
    },
    close: () => closeSockets(sockets.splice(0)),
  };
};
