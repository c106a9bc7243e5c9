import type { RemoteInfo, Socket } from 'node:dgram';
import type { ApplicationServerConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { bindAll, closeSockets } from '../../net/datagram/bind-all.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { countError } from '../../net/metrics/count-error.ts';
import type { Listener, Transport } from '../../net/transport/transport.ts';
import { Part } from './cast.ts';
import type { Channel } from './channel.ts';
import { converse } from './conversation.ts';
import { DatagramChannel } from './datagram-channel.ts';
import { exchangesOf } from './http-exchanges.ts';
import { HttpLibrary } from './http-library.ts';
import { serveHttp } from './http-service.ts';
import { Referee } from './referee.ts';
import { Roster } from './roster.ts';
import { loadScript, type Script } from './script.ts';
import { createApplicationTransport, StreamChannel } from './stream-channel.ts';
import { patienceOf } from './timing.ts';
import { Values } from './values.ts';

type Context = EngineContext<ApplicationServerConfig>;
type Place = ApplicationServerConfig['listen'][number];

/** Plays the servers of all sessions. */
class ApplicationServer implements PreparedEngine {
  readonly #context: Context;
  readonly #referee: Referee;
  readonly #transport: Transport;
  readonly #listeners: Listener[] = [];
  readonly #sockets: Socket[] = [];
  readonly #open = new Set<Channel>();
  readonly #parts = new Map<string, Part>();

  constructor(context: Context) {
    const { config, note } = context;
    this.#context = context;
    this.#referee = new Referee(context);
    this.#transport = createApplicationTransport({ path: config.dataPath, note });
  }

  async open(scripts: readonly Script[]): Promise<void> {
    for (const place of this.#context.config.listen) {
      for (const protocol of ['tcp', 'udp'] as const) {
        const roster = new Roster(this.#partsAt(scripts, place, protocol), protocol);
        if (roster.parts.length === 0) continue;
        if (protocol === 'tcp') await this.#listen(place, roster, this.#libraryOf(roster, place));
        else await this.#bind(place, roster);
      }
    }
  }

  async start(): Promise<void> {
    await Promise.race([aborted(this.#context.signal), this.#referee.stopped]);
  }

  async close(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close()));
    for (const channel of this.#open) channel.reset();
    await this.#transport.close();
    await closeSockets(this.#sockets.splice(0));
  }

  #partsAt(scripts: readonly Script[], { port, recorded = port, slot }: Place, protocol: 'tcp' | 'udp'): Part[] {
    return scripts.flatMap((script) => {
      const { users, firstSlot } = script.play;
      const onlyUser = slot === undefined ? undefined : slot - firstSlot;
      if (onlyUser !== undefined && (onlyUser < 0 || onlyUser >= users)) return [];
      return script.sessions.flatMap((session, position) =>
        session.port === recorded && session.protocol === protocol ? [this.#part(script, position, onlyUser)] : [],
      );
    });
  }

  /** One for all the places where it may be played, so that turns are counted together. */
  #part(script: Script, position: number, onlyUser: number | undefined): Part {
    const key = `${script.index} ${position} ${onlyUser ?? ''}`;
    const values = new Values(script.play, this.#context.config);
    const part =
      this.#parts.get(key) ?? new Part(script, position, { values, ...(onlyUser !== undefined && { onlyUser }) });
    this.#parts.set(key, part);
    return part;
  }

  /** Undefined where bytes are compared as they are. */
  #libraryOf({ parts }: Roster, { port }: Place): HttpLibrary | undefined {
    if (this.#context.config.match !== 'http') return undefined;
    const isHttp = (part: Part) => exchangesOf(part.round({ user: 0, iteration: 0 }, {}), part.position) !== undefined;
    const [spoken, other] = [parts.filter(isHttp), parts.find((part) => !isHttp(part))];
    if (spoken.length > 0 && other !== undefined) {
      const { index, name } = other.session;
      throw new Error(`session ${index} (${name}) to port ${port} is not HTTP as others there are: play it by itself`);
    }
    return spoken.length > 0 ? new HttpLibrary(spoken) : undefined;
  }

  async #listen(place: Place, roster: Roster, library: HttpLibrary | undefined): Promise<void> {
    const listener = await this.#transport.listen({ ...place, isShared: false }, (connection) => {
      const channel = StreamChannel.of(connection);
      void this.#serve(channel, place, { roster, library })
        .then(() => channel.gone)
        .then(() => this.#open.delete(channel));
      return channel;
    });
    this.#listeners.push(listener);
  }

  async #bind(place: Place, roster: Roster): Promise<void> {
    const [socket] = await bindAll([place], { core: { count: 1 } }, (opened) => this.#receive(opened, place, roster));
    if (socket !== undefined) this.#sockets.push(socket);
  }

  /** Datagrams of one address and port are one session. */
  #receive(socket: Socket, place: Place, roster: Roster): void {
    const flows = new Map<string, DatagramChannel>();
    socket.on('error', (error) => countError(this.#context.samples, 'application', error.message));
    socket.on('message', (bytes: Buffer, peer: RemoteInfo) => {
      const key = `${peer.address} ${peer.port}`;
      const known = flows.get(key);
      const channel = known ?? DatagramChannel.of(socket, peer, () => flows.delete(key));
      channel.arrive(bytes);
      if (known !== undefined) return;
      flows.set(key, channel);
      void this.#serve(channel, place, { roster, library: undefined }).finally(() => this.#open.delete(channel));
    });
  }

  async #serve(
    channel: Channel,
    { host, port }: Place,
    { roster, library }: { roster: Roster; library: HttpLibrary | undefined },
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
      roster,
      referee: this.#referee,
      signal,
      local,
      timeoutMs: Math.max(...roster.parts.map(({ script }) => patienceOf(script))),
      fail,
    };
    try {
      if (library === undefined) await converse(channel, deps);
      else await serveHttp(channel, { ...deps, library });
    } catch (error) {
      // A value that does not fit ends this session and no other.
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
