import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { AttackListen } from '@rushhour/protocol';
import { closeServers, listenAll } from '../../../net/transport/listen-all.ts';
import type { AttackListener, ServerScene } from '../driver.ts';

/** One connection of our server. */
interface Visit {
  /** Says what it saw, once. */
  tell(): void;
}

/** Listens for connections over TCP, with TLS where the place has it; those open at the end still tell what they saw. */
export const listenVisits = async (
  place: AttackListen,
  { tls }: Pick<ServerScene, 'tls'>,
  receive: (socket: Socket) => Visit,
): Promise<AttackListener> => {
  const visits = new Set<Visit>();
  const onVisit = (socket: Socket) => {
    const visit = receive(socket);
    visits.add(visit);
    socket.on('close', () => visits.delete(visit));
  };
  const create = (): Server => {
    if (!place.isTls) return createServer({ allowHalfOpen: true, noDelay: true }, onVisit);
    return createTlsServer(tls, onVisit).on('tlsClientError', () => {});
  };
  const servers = await listenAll([place], create, { core: { count: 1 } });
  return {
    async close() {
      for (const visit of visits) visit.tell();
      await closeServers(servers);
    },
  };
};
