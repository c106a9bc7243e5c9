import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import type { Listen } from '@rushhour/protocol';
import type { ListenContext } from '../transport/listen-all.ts';

/** Binds a datagram socket to every address; several threads share a port. Closes all sockets again if one fails. */
export const bindAll = async (
  addresses: readonly Listen[],
  context: ListenContext,
  onSocket: (socket: Socket) => void,
): Promise<Socket[]> => {
  const sockets: Socket[] = [];
  try {
    for (const { host, port } of addresses) {
      if (context.hostNetwork !== undefined) {
        const socket = context.hostNetwork.createDatagramSocket();
        sockets.push(socket);
        onSocket(socket);
        await socket.listen({ host, port });
        continue;
      }
      const type = isIPv6(host) ? 'udp6' : 'udp4';
      const socket = createSocket({ type, reusePort: context.core.count > 1 });
      sockets.push(socket);
      socket.bind({ address: host, port });
      await once(socket, 'listening');
      onSocket(socket);
    }
  } catch (error) {
    await closeSockets(sockets);
    throw error;
  }
  return sockets;
};

export const closeSockets = async (sockets: readonly Socket[]): Promise<void> => {
  await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.close(resolve))));
};
