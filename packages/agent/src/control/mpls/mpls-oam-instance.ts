import type { PlaneCommand } from '@rushhour/protocol';
import {
  answerLspEcho,
  formatAddress,
  type LspEcho,
  LspPing,
  type LspPrefix,
  lspMessage,
  lspPingPort,
  lspReplyMode,
  lspTarget,
  parseAddress,
  parseLspEcho,
  writeLspEcho,
} from '@rushhour/wire';
import { sendDatagramFrame } from '../routers/datagram-frame.ts';
import { ipv4Text, ipv4Word } from '../routers/ipv4-word.ts';
import type { MplsOamProfile } from '../routers/profiles.ts';
import type {
  InstanceCounters,
  InstanceOptions,
  NeighbourRow,
  PlaneContext,
  ProtocolInstance,
  RouteRow,
  Router,
} from '../routers/router.ts';
import type { LdpInstance } from './ldp-instance.ts';

const macBytes = 6;
const implicitNull = 3;
/** Answers that are kept for the table. */
const maxAnswers = 1000;
const hopLimit = 255;

/** A request as it came off the wire. */
interface ReceivedRequest {
  readonly bytes: Uint8Array;
  /** undefined: without a label. */
  readonly label: number | undefined;
  readonly mac: Uint8Array;
  readonly source: Int32Array;
  readonly port: number;
}

interface Answer {
  readonly ttl: number;
  readonly from: string;
  readonly code: number;
  readonly ms: number;
}

/** LSP ping of a router: its requests, and answers to those of others. */
export class MplsOamInstance implements ProtocolInstance {
  readonly protocol = 'mpls-oam';
  readonly router: Router;
  readonly #ping: LspPing;
  readonly #ldp: LdpInstance;
  readonly #context: PlaneContext;
  readonly #profile: MplsOamProfile;
  readonly #host: number;
  readonly #local: Int32Array;
  readonly #prefix: string;
  readonly #answers: Answer[] = [];
  #answered = 0;
  #startedAt = 0;

  constructor({ profile, router, host }: InstanceOptions<MplsOamProfile>, context: PlaneContext, ldp: LdpInstance) {
    const { ping, reply, traceroute } = profile;
    this.router = router;
    this.#ldp = ldp;
    this.#context = context;
    this.#profile = profile;
    this.#host = host;
    this.#local = parseAddress(router.address);
    this.#prefix = `${ping.prefix}/${ping.prefixLength}`;
    this.#ping = new LspPing(
      {
        handle: ipv4Word(router.address),
        target: { kind: lspTarget[ping.target], address: ipv4Word(ping.prefix), length: ping.prefixLength },
        ...{ intervalMs: ping.intervalMs, timeoutMs: ping.timeoutMs, count: ping.count, ttl: ping.ttl },
        padBytes: ping.sizeBytes,
        replyMode: reply.mode,
        traceTtl: traceroute.enabled ? traceroute.maxTtl : undefined,
      },
      {
        clock: Date.now,
        send: (bytes, ttl) => this.#send(bytes, ttl),
        onAnswer: (answer) => this.#onAnswer(answer),
      },
    );
  }

  get counters(): InstanceCounters {
    const { sent, received } = this.#ping.counters;
    return {
      tx: sent + this.#answered,
      rx: received,
      flaps: this.#ping.flaps,
      prefixesSent: 0,
      prefixesReceived: 0,
    };
  }

  start(now: number): void {
    this.#startedAt = now;
    this.#ping.start(now);
  }

  advance(now: number): void {
    this.#ping.advance(now);
  }

  stop(): void {
    this.#ping.stop();
  }

  /** An answer to one of the own requests. */
  receiveReply(bytes: Uint8Array, source: Int32Array): void {
    const echo = parseLspEcho(bytes);
    if (echo?.type === lspMessage.reply) this.#ping.receive(echo, formatAddress(source), performance.now());
  }

  /** A request that may be for this router. */
  receiveRequest(received: ReceivedRequest): void {
    const { mode: _, answer } = this.#profile.reply;
    const request = answer ? parseLspEcho(received.bytes) : undefined;
    if (request === undefined) return;
    const { bindings } = this.#ldp;
    const lookup = {
      labelOf: (prefix: LspPrefix) => bindings.find(textOf(prefix))?.label,
      isKnown: (label: number) => bindings.has(label),
    };
    const reply = answerLspEcho(request, received.label, lookup, Date.now());
    if (reply !== undefined) this.#reply(reply, received);
  }

  command({ action }: PlaneCommand, now: number): string | undefined {
    if (action === 'start' || action === 'linkUp') this.start(now);
    else if (action === 'stop' || action === 'linkDown') this.stop();
    else if (action === 'restart' || action === 'disconnect') {
      this.stop();
      this.start(now);
    } else return `MPLS OAM cannot do ${action}`;
    return undefined;
  }

  neighbours(now: number): readonly NeighbourRow[] {
    const { isUp, upAt, flaps, counters, lastError } = this.#ping;
    return [
      {
        router: this.router.address,
        protocol: this.protocol,
        neighbour: this.#prefix,
        state: isUp ? 'up' : 'down',
        isUp,
        uptimeMs: isUp ? Math.round(now - upAt) : 0,
        flaps,
        routesSent: counters.sent,
        routesReceived: counters.received,
        databaseSize: 0,
        lastError: isUp ? '' : lastError,
      },
    ];
  }

  /** The newest answers. */
  routes(limit: number): readonly RouteRow[] {
    return this.#answers.slice(-Math.max(1, limit)).map(({ ttl, from, code, ms }) => ({
      router: this.router.address,
      neighbour: from,
      protocol: this.protocol,
      family: 'lspPath',
      route: this.#prefix,
      nextHop: from,
      detail: `TTL ${ttl}, return code ${code}, ${ms.toFixed(3)} ms`,
    }));
  }

  #onAnswer(answer: Answer): void {
    if (this.#answers.length === 0) {
      this.#context.recordAdjacency(Math.round((performance.now() - this.#startedAt) * 1000));
      this.#context.event('mpls-oam', this.router, `${this.#prefix}: first answer by ${answer.from}`);
    }
    this.#answers.push(answer);
    if (this.#answers.length > maxAnswers) this.#answers.shift();
  }

  #send(bytes: Uint8Array, ttl: number): boolean {
    const { neighbours } = this.#context.layers.group;
    const path = this.#ldp.pathTo(this.#prefix);
    const slot = path === undefined ? -1 : (neighbours?.resolve(parseAddress(path.neighbour), 0, 0, this.#host) ?? -1);
    if (path === undefined || slot < 0 || neighbours === undefined) return false;
    const { destination, trafficClass } = this.#profile.ping;
    const frame = {
      ...{ host: this.#host, source: this.#local, destination: parseAddress(destination), ttl: 1, hasAlert: true },
      mac: neighbours.macs.slice(slot * macBytes, (slot + 1) * macBytes),
      ports: (lspPingPort << 16) | lspPingPort,
      // Without a label where the neighbour asks for none.
      mpls: path.label === implicitNull ? undefined : { label: path.label, trafficClass, ttl },
    };
    sendDatagramFrame(this.#context, frame, bytes);
    return true;
  }

  #reply(reply: LspEcho, { mac, source, port }: ReceivedRequest): void {
    this.#answered++;
    const frame = {
      ...{ host: this.#host, mac, source: this.#local, destination: source, ttl: hopLimit },
      hasAlert: reply.replyMode === lspReplyMode['router-alert'],
      tos: this.#profile.reply.dscp << 2,
      ports: (lspPingPort << 16) | port,
    };
    sendDatagramFrame(this.#context, frame, writeLspEcho(reply));
  }
}

const textOf = ({ address, length }: LspPrefix): string => `${ipv4Text(address)}/${length}`;
