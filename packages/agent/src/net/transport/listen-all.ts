import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import type { Listen } from '@rushhour/protocol';

const socketsOf = new WeakMap<Server, Set<Socket>>();

/** Listens on every address; several threads share a port. Closes all servers again if one fails. */
export const listenAll = async <T extends Server>(
  addresses: readonly Listen[],
  create: () => T,
  context: { readonly core: { readonly count: number } },
): Promise<T[]> => {
  const servers: T[] = [];
  try {
    for (const { host, port } of addresses) {
      const server = create();
      servers.push(server);
      const sockets = new Set<Socket>();
      socketsOf.set(server, sockets);
      server.on('connection', (socket: Socket) => {
        sockets.add(socket);
        socket.on('close', () => sockets.delete(socket));
      });
      server.listen({ host, port, backlog: 65_535, reusePort: context.core.count > 1 });
      await once(server, 'listening');
    }
  } catch (error) {
    await closeServers(servers);
    throw error;
  }
  return servers;
};

/** Closes servers and then their remaining connections. */
export const closeServers = async (servers: readonly Server[]): Promise<void> => {
  await Promise.all(
    servers.map(async (server) => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of socketsOf.get(server) ?? []) socket.destroy();
      await closed;
    }),
  );
};
