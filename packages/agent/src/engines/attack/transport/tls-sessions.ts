import type { TLSSocket } from 'node:tls';

interface Server {
  readonly address: string;
  readonly port: number;
  readonly serverName?: string;
  /** What TLS offers, where that is prescribed. */
  readonly hello?: object;
}

const keyOf = ({ address, port, serverName = '' }: Server): string => `${address} ${port} ${serverName}`;

/** The newest TLS session of each server, for the next connection to resume. */
export class TlsSessions {
  readonly #tickets = new Map<string, Buffer>();

  /** What begins by a hello of its own offers no session: that would be another hello. */
  find(server: Server): Buffer | undefined {
    return server.hello === undefined ? this.#tickets.get(keyOf(server)) : undefined;
  }

  keep(server: Server, socket: TLSSocket): void {
    if (server.hello === undefined) socket.on('session', (ticket) => this.#tickets.set(keyOf(server), ticket));
  }
}
