import type { RemoteInfo, Socket } from 'node:dgram';
import type { ApplicationServerConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { bindAll, closeSockets } from '../../net/datagram/bind-all.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { countError } from '../../net/metrics/count-error.ts';
import type { Listener, Transport } from '../../net/transport/transport.ts';
import { HttpExchangeIndex } from './http/http-exchange-index.ts';
import { exchangesOf } from './http/http-exchanges.ts';
import { serveHttp } from './http/serve-http.ts';
import { loadScript, type Script } from './script.ts';
import type { Channel } from './session/channel.ts';
import { DatagramChannel } from './session/datagram-channel.ts';
import { MismatchPolicy } from './session/mismatch-policy.ts';
import { PortSessions } from './session/port-sessions.ts';
import { serveSession } from './session/serve-session.ts';
import { SessionMatcher } from './session/session-matcher.ts';
import { SessionTransports } from './session/session-transports.ts';
import { StreamChannel } from './session/stream-channel.ts';
import { clientStepTimeoutMs } from './timing.ts';
import { Values } from './values.ts';

type Context = EngineContext<ApplicationServerConfig>;
type Endpoint = ApplicationServerConfig['listen'][number];

/** Replays the server side of all sessions. */
class ApplicationServer implements PreparedEngine {
  readonly #context: Context;
  readonly #mismatchPolicy: MismatchPolicy;
  readonly #transports: SessionTransports;
  readonly #listeners: Listener[] = [];
  readonly #sockets: Socket[] = [];
  readonly #open = new Set<Channel>();
  readonly #matchers = new Map<string, SessionMatcher>();

  constructor(context: Context) {
    this.#context = context;
    this.#mismatchPolicy = new MismatchPolicy(context);
    this.#transports = new SessionTransports(context);
  }

  async open(scripts: readonly Script[]): Promise<void> {
    for (const endpoint of this.#context.config.listen) {
      for (const protocol of ['tcp', 'udp'] as const) {
        const portSessions = new PortSessions(this.#matchersAt(scripts, endpoint, protocol), protocol);
        if (portSessions.matchers.length === 0) continue;
        if (protocol === 'tcp')
          await this.#listen(endpoint, portSessions, this.#exchangeIndexOf(portSessions, endpoint));
        else await this.#bind(endpoint, portSessions);
      }
    }
  }

  async start(): Promise<void> {
    await Promise.race([aborted(this.#context.signal), this.#mismatchPolicy.stopped]);
  }

  async close(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close()));
    for (const channel of this.#open) channel.reset();
    await this.#transports.close();
    await closeSockets(this.#sockets.splice(0));
  }

  #matchersAt(
    scripts: readonly Script[],
    { port, recorded = port, slot }: Endpoint,
    protocol: 'tcp' | 'udp',
  ): SessionMatcher[] {
    return scripts.flatMap((script) => {
      const { users, firstSlot } = script.play;
      const onlyUser = slot === undefined ? undefined : slot - firstSlot;
      if (onlyUser !== undefined && (onlyUser < 0 || onlyUser >= users)) return [];
      return script.sessions.flatMap((session, position) =>
        session.port === recorded && session.protocol === protocol ? [this.#matcherOf(script, position, onlyUser)] : [],
      );
    });
  }

  /** Shared by all endpoints of a session, so that iterations are counted together. */
  #matcherOf(script: Script, position: number, onlyUser: number | undefined): SessionMatcher {
    const key = `${script.index} ${position} ${onlyUser ?? ''}`;
    const values = new Values(script.play, this.#context.config);
    const matcher =
      this.#matchers.get(key) ??
      new SessionMatcher(script, position, { values, ...(onlyUser !== undefined && { onlyUser }) });
    this.#matchers.set(key, matcher);
    return matcher;
  }

  /** Undefined when raw bytes are compared. */
  #exchangeIndexOf({ matchers }: PortSessions, { port }: Endpoint): HttpExchangeIndex | undefined {
    if (this.#context.config.match !== 'http') return undefined;
    const isHttp = (matcher: SessionMatcher) =>
      exchangesOf(matcher.round({ user: 0, iteration: 0 }, {}), matcher.position) !== undefined;
    const [spoken, other] = [matchers.filter(isHttp), matchers.find((matcher) => !isHttp(matcher))];
    if (spoken.length > 0 && other !== undefined) {
      const { index, name } = other.session;
      throw new Error(
        `session ${index} (${name}) to port ${port} is not HTTP although other sessions of this port are: replay it in a separate entry`,
      );
    }
    return spoken.length > 0 ? new HttpExchangeIndex(spoken) : undefined;
  }

  /** Sessions of a port are all replayed with TLS, or all without. */
  #transportOf({ matchers }: PortSessions, { port }: Endpoint): Transport {
    const [first, ...others] = matchers.map((matcher) => ({
      matcher,
      transport: this.#transports.of(matcher.session),
    }));
    const transport = first?.transport ?? this.#transports.plain;
    const other = others.find((one) => one.transport !== transport);
    if (other === undefined) return transport;
    const { index, name } =
      [first, other].find((one) => one?.transport === this.#transports.plain)?.matcher.session ?? other.matcher.session;
    throw new Error(
      `session ${index} (${name}) to port ${port} was recorded encrypted, other sessions of this port were not: replay it in a separate entry`,
    );
  }

  async #listen(
    endpoint: Endpoint,
    portSessions: PortSessions,
    exchangeIndex: HttpExchangeIndex | undefined,
  ): Promise<void> {
    const listener = await this.#transportOf(portSessions, endpoint).listen(
      { ...endpoint, isShared: false },
      (connection) => {
        const channel = StreamChannel.of(connection);
        void this.#serve(channel, endpoint, { portSessions, exchangeIndex })
          .then(() => channel.gone)
          .then(() => this.#open.delete(channel));
        return channel;
      },
    );
    this.#listeners.push(listener);
  }

  async #bind(endpoint: Endpoint, portSessions: PortSessions): Promise<void> {
    const [socket] = await bindAll(
      [endpoint],
      { core: { count: 1 }, hostNetwork: this.#context.hostNetwork },
      (opened) => this.#receive(opened, endpoint, portSessions),
    );
    if (socket !== undefined) this.#sockets.push(socket);
  }

  /** All datagrams from one address and port form one session. */
  #receive(socket: Socket, endpoint: Endpoint, portSessions: PortSessions): void {
    const flows = new Map<string, DatagramChannel>();
    socket.on('error', (error) => countError(this.#context.samples, 'application', error.message));
    socket.on('message', (bytes: Buffer, peer: RemoteInfo) => {
      const key = `${peer.address} ${peer.port}`;
      const known = flows.get(key);
      const channel = known ?? DatagramChannel.of(socket, peer, () => flows.delete(key));
      channel.arrive(bytes);
      if (known !== undefined) return;
      flows.set(key, channel);
      void this.#serve(channel, endpoint, { portSessions, exchangeIndex: undefined }).finally(() =>
        this.#open.delete(channel),
      );
    });
  }

  async #serve(
    channel: Channel,
    { host, port }: Endpoint,
    { portSessions, exchangeIndex }: { portSessions: PortSessions; exchangeIndex: HttpExchangeIndex | undefined },
  ): Promise<void> {
    const { config, signal, samples } = this.#context;
    this.#open.add(channel);
    const now = new Date();
    const local = {
      serverIp: host,
      serverPort: String(port),
      nowUnix: String(Math.floor(now.getTime() / 1000)),
      nowIso: now.toISOString(),
    };
    const fail = (kind: string) => countError(samples, 'application', kind);
    const deps = {
      config,
      portSessions,
      mismatchPolicy: this.#mismatchPolicy,
      signal,
      local,
      timeoutMs: Math.max(...portSessions.matchers.map(({ script }) => clientStepTimeoutMs(script))),
      fail,
    };
    try {
      if (exchangeIndex === undefined) await serveSession(channel, deps);
      else await serveHttp(channel, { ...deps, exchangeIndex });
    } catch (error) {
      // A value that does not fit ends only this session.
      fail(error instanceof RangeError ? 'value' : 'other');
      channel.reset();
    }
  }
}

export const prepareApplicationServer = async (context: Context): Promise<PreparedEngine> => {
  const scripts = await Promise.all(
    context.config.applications.map((play, index) => loadScript(play, index, context.note)),
  );
  const server = new ApplicationServer(context);
  try {
    await server.open(scripts);
  } catch (error) {
    await server.close();
    throw error;
  }
  return server;
};
