import type { TlsClientSettings } from '@rushhour/protocol';
import type { HostNetwork } from '../host-network.ts';
import { bindSocket, configureOrClose, openSocket, option, socketType, trySetOption } from '../kernel/socket.ts';
import { family, familyOf } from '../kernel/socket-address.ts';
import type { CreateAlarm } from '../loop/alarm.ts';
import { kernelEventLoop } from '../loop/kernel-event-loop.ts';
import { errorCodeOf } from '../metrics/count-error.ts';
import { TicketStore } from '../openssl/ticket-store.ts';
import type { TlsObserver } from '../openssl/tls-connection.ts';
import { identityOf, TlsContext } from '../openssl/tls-context.ts';
import { createSessionPreparer } from '../openssl/tls-transport.ts';
import type { Route } from '../transport/transport.ts';
import { type CloseReason, closeReasonOf } from './close-reason.ts';
import { DatagramCarrier } from './datagram-carrier.ts';
import type { QuicConnection, QuicConnectionEvents } from './quic.ts';
import { type QuicCarrier, SocketCarrier } from './quic-carrier.ts';
import { EndpointGroup, QuicEndpoint } from './quic-endpoint.ts';
import { QuicSession, type SessionHost } from './quic-session.ts';

const socketBufferBytes = 1 << 20;
const [wantRead, wantWrite] = [2, 3] as const;

/** Opens QUIC connections, each with a socket of its own. */
export interface QuicClient {
  readonly createAlarm: CreateAlarm;
  connect(route: Route, events: QuicConnectionEvents): QuicConnection;
  /** Closes all remaining connections without telling. */
  close(): Promise<void>;
}

export interface QuicClientOptions extends TlsObserver {
  readonly settings: TlsClientSettings;
  readonly alpn: readonly string[];
  /** Emulated hosts that the connections come from. */
  readonly hostNetwork?: HostNetwork | undefined;
  /** Time after which a connection goes on from another port, again and again. */
  readonly moveMs?: number | undefined;
  readonly onMove?: (() => void) | undefined;
}

interface ClientDeps {
  readonly openCarrier: (route: Route) => QuicCarrier;
  readonly options: QuicClientOptions;
  readonly group: EndpointGroup;
  readonly context: TlsContext;
  readonly tickets: TicketStore | undefined;
  readonly prepare: (session: number, address: string) => void;
}

/** The route with a port that the system chooses. */
const fromAnyPort = (route: Route): Route => ({ ...route, localPort: 0 });

const openClientSocket = ({ address, localAddress, localPort = 0 }: Route): number =>
  configureOrClose(openSocket(familyOf(address), socketType.datagram), (fd) => {
    trySetOption(fd, option.receiveBuffer, socketBufferBytes);
    const any = familyOf(address) === family.inet6 ? '::' : '0.0.0.0';
    bindSocket(fd, { address: localAddress ?? any, port: localPort });
  });

/** One connection and its socket. */
class ClientEndpoint extends QuicEndpoint implements SessionHost {
  readonly session: QuicSession;
  readonly #deps: ClientDeps;
  readonly #endpoint: string;
  readonly #offered: number;
  #lacksTicket: boolean;
  protected override wakeAt = Number.POSITIVE_INFINITY;

  constructor(deps: ClientDeps, route: Route, events: QuicConnectionEvents) {
    const carrier = deps.openCarrier(route);
    super(deps.group, carrier);
    this.#deps = deps;
    this.#endpoint = `${route.address} ${route.port}`;
    const { openssl } = this;
    const ssl = openssl.SSL_new(deps.context.address);
    carrier.attach(this, ssl);
    openssl.SSL_set_blocking_mode(ssl, 0);
    deps.prepare(ssl, route.address);
    this.#offered = deps.tickets?.find(this.#endpoint) ?? 0;
    this.#lacksTicket = deps.tickets !== undefined;
    if (this.#offered !== 0) openssl.SSL_set_session(ssl, this.#offered);
    openssl.SSL_set_connect_state(ssl);
    this.session = new QuicSession(ssl, this);
    this.session.events = events;
    this.touch();
  }

  override get root(): number {
    return this.session.ssl;
  }

  protected override advance(now: number): void {
    if (this.session.isOpen) {
      if (this.#lacksTicket) this.#lacksTicket = this.#deps.tickets?.take(this.#endpoint, this.root) !== true;
      if (now >= this.wakeAt) this.#move(now);
      return;
    }
    const result = this.openssl.SSL_do_handshake(this.root);
    if (result === 1) {
      this.wakeAt = now + (this.#deps.options.moveMs ?? Number.POSITIVE_INFINITY);
      this.session.opened(now);
      return;
    }
    const kind = this.openssl.SSL_get_error(this.root, result);
    this.openssl.ERR_clear_error();
    if (kind !== wantRead && kind !== wantWrite) this.session.end(closeReasonOf(this.root));
  }

  onCarrierError(code: string): void {
    this.session.end({ code, isLocal: false });
  }

  #move(now: number): void {
    const { moveMs = Number.POSITIVE_INFINITY, onMove } = this.#deps.options;
    this.wakeAt = now + moveMs;
    try {
      this.carrier.move();
      onMove?.();
    } catch (error) {
      this.onCarrierError(errorCodeOf(error as Error));
    }
  }

  onEnd(session: QuicSession, { code, alert, isLocal }: CloseReason): void {
    if (alert !== undefined) this.#deps.options.onAlert?.(isLocal ? 'sent' : 'received', alert);
    if (!session.isOpen && this.#offered !== 0) this.#deps.tickets?.refuse(this.#endpoint, this.#offered);
    this.release();
    session.events.onClose(code, performance.now());
  }
}

const connectedOptions = { sendBatch: { count: 1, bytes: 2048 }, receiveBufferBytes: 0 };

const createCarriers = ({ hostNetwork }: QuicClientOptions, { poller }: EndpointGroup) => {
  const datagrams = hostNetwork?.createDatagrams();
  const open = (route: Route): QuicCarrier => {
    const routeOf = (isFirst: boolean) => (isFirst ? route : fromAnyPort(route));
    if (datagrams === undefined)
      return new SocketCarrier(poller, (isFirst) => openClientSocket(routeOf(isFirst)), route);
    return new DatagramCarrier({
      isServer: false,
      open: (events, isFirst) => datagrams.connect(routeOf(isFirst), connectedOptions, events),
    });
  };
  return { open, close: async () => datagrams?.close() };
};

export const createQuicClient = (options: QuicClientOptions): QuicClient => {
  const { settings, alpn } = options;
  const context = new TlsContext(
    { ...settings, versions: ['1.3'], earlyData: false },
    { alpn, identity: identityOf(settings), isQuic: true, onKeyLine: options.onKeyLine },
    false,
  );
  const group = new EndpointGroup();
  const tickets = settings.resumption === 'none' ? undefined : new TicketStore();
  const carriers = createCarriers(options, group);
  const prepare = createSessionPreparer(settings);
  const deps: ClientDeps = { options, group, context, tickets, prepare, openCarrier: carriers.open };
  return {
    createAlarm: (onAlarm) => kernelEventLoop.createAlarm(onAlarm),
    connect: (route, events) => new ClientEndpoint(deps, route, events).session,
    async close() {
      for (const endpoint of group.endpoints) (endpoint as ClientEndpoint).session.close(0);
      group.close();
      await carriers.close();
      tickets?.release();
      context.release();
    },
  };
};
