import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Listen } from '@rushhour/protocol';
import type { HostNetwork } from '../host-network.ts';

const socketsOf = new WeakMap<Server, Set<Socket>>();
/** Of servers on emulated hosts, which have no socket of the kernel: how they stop. */
const stops = new WeakMap<Server, () => Promise<void>>();

export interface ListenContext {
  readonly core: { readonly count: number };
  readonly hostNetwork?: HostNetwork | undefined;
}

/** Listens on every address; several threads share a port. Closes all servers again if one fails. */
export const listenAll = async <T extends Server>(
  addresses: readonly Listen[],
  create: () => T,
  context: ListenContext,
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
      if (context.hostNetwork !== undefined) {
        const onSocket = (socket: Duplex) => server.emit('connection', socket);
        stops.set(server, await context.hostNetwork.serve({ host, port }, onSocket));
        continue;
      }
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
      const stop = stops.get(server);
      if (stop !== undefined) {
        await stop();
        for (const socket of socketsOf.get(server) ?? []) socket.destroy();
        return;
      }
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of socketsOf.get(server) ?? []) socket.destroy();
      await closed;
    }),
  );
};
