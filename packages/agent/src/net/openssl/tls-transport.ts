import { isIP } from 'node:net';
import type { TlsClientSettings, TlsServerSettings } from '@rushhour/protocol';
import type { Connection, ConnectionEvents, Listener, Route, Transport } from '../transport/transport.ts';
import { requireOpenssl } from './library.ts';
import { TicketStore } from './ticket-store.ts';
import { TlsClientConnection } from './tls-client-connection.ts';
import type { TlsConnectionDeps, TlsObserver } from './tls-connection.ts';
import { identityOf, TlsContext } from './tls-context.ts';
import { tlsPipes } from './tls-pipes.ts';
import { TlsServerConnection } from './tls-server-connection.ts';

const setServerName = 55;
const handshakeTimeoutMs = 120_000;

export interface TlsClientOptions extends TlsObserver {
  readonly settings: TlsClientSettings;
  readonly alpn: readonly string[];
}

export interface TlsServerOptions extends TlsObserver {
  /** With a certificate. */
  readonly settings: TlsServerSettings;
  readonly alpn: readonly string[];
}

/** Sets the name to ask for and, if the certificate is verified, the name or address it has to be valid for. */
export const createSessionPreparer = ({ sni, verify }: TlsClientSettings) => {
  const openssl = requireOpenssl();
  const isName = sni !== undefined && isIP(sni) === 0;
  return (session: number, address: string): void => {
    if (isName) openssl.sessionControl(session, setServerName, 0, sni);
    if (!verify) return;
    const parameters = openssl.SSL_get0_param(session);
    if (isName) openssl.X509_VERIFY_PARAM_set1_host(parameters, sni, 0);
    else openssl.X509_VERIFY_PARAM_set1_ip_asc(parameters, sni ?? address);
  };
};

type Inherited = Pick<Transport, 'createAlarm' | 'prepareMessage' | 'retransmits'>;

const inherit = (inner: Transport): Inherited => ({
  createAlarm: inner.createAlarm,
  prepareMessage: (bytes) => inner.prepareMessage(bytes),
  ...(inner.retransmits && { retransmits: (limit?: number) => inner.retransmits?.(limit) ?? 0 }),
});

const onlyOneSide = (): never => {
  throw new Error('this transport has no settings for this side');
};

/** TLS over another transport, for the side that connects. */
export const createTlsClientTransport = (inner: Transport, options: TlsClientOptions): Transport => {
  const { settings, alpn, ...observer } = options;
  const context = new TlsContext(
    settings,
    { alpn, identity: identityOf(settings), onKeyLine: options.onKeyLine },
    false,
  );
  const deps: TlsConnectionDeps = { ...observer, pipes: tlsPipes(), context };
  const tickets = settings.resumption === 'none' ? undefined : new TicketStore();
  const prepare = createSessionPreparer(settings);
  return {
    ...inherit(inner),
    name: `TLS on ${inner.name}`,
    connect(route: Route, events: ConnectionEvents): Connection {
      const connection = new TlsClientConnection(deps, {
        tickets,
        endpoint: tickets === undefined ? '' : `${route.address} ${route.port}`,
        prepare: (session) => prepare(session, route.address),
      });
      connection.events = events;
      if (events.onSent !== undefined) connection.onSent = (now) => events.onSent?.(now);
      connection.inner = inner.connect(route, connection);
      return connection;
    },
    listen: onlyOneSide,
    async close() {
      await inner.close();
      tickets?.release();
      context.release();
    },
  };
};

/** Handshakes in the order they began; those that take too long are reset. */
class PendingHandshakes {
  readonly #queue: { readonly connection: TlsServerConnection; readonly startedAt: number }[] = [];
  #first = 0;

  add(connection: TlsServerConnection): void {
    const now = performance.now();
    this.#queue.push({ connection, startedAt: now });
    for (let head = this.#queue[this.#first]; head !== undefined; head = this.#queue[this.#first]) {
      const isLate = now - head.startedAt > handshakeTimeoutMs;
      if (head.connection.isPending && !isLate) break;
      this.#first++;
      if (head.connection.isPending) head.connection.reset();
    }
    if (this.#first < 1024) return;
    this.#queue.splice(0, this.#first);
    this.#first = 0;
  }
}

/** TLS over another transport, for the side that listens. */
export const createTlsServerTransport = (inner: Transport, options: TlsServerOptions): Transport => {
  const { settings, alpn, ...observer } = options;
  const context = new TlsContext(
    settings,
    { alpn, identity: identityOf(settings), onKeyLine: options.onKeyLine },
    true,
  );
  const deps: TlsConnectionDeps = { ...observer, pipes: tlsPipes(), context };
  const pending = new PendingHandshakes();
  return {
    ...inherit(inner),
    name: `TLS on ${inner.name}`,
    connect: onlyOneSide,
    listen: (where, accept): Promise<Listener> =>
      inner.listen(where, (accepted) => {
        const connection = new TlsServerConnection(deps, accept);
        connection.inner = accepted;
        pending.add(connection);
        return connection;
      }),
    async close() {
      await inner.close();
      context.release();
    },
  };
};
