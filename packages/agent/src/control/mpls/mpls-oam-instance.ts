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
  lspReturn,
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
import { LspBfd, type PathFrame } from './lsp-bfd.ts';

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

interface MplsOamDeps {
  readonly ldp: LdpInstance;
  nextDiscriminator(): number;
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
  /** Of the session of BFD over the own path. */
  readonly discriminator: number;
  readonly #bfd: LspBfd;
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

  constructor(
    options: InstanceOptions<MplsOamProfile>,
    context: PlaneContext,
    { ldp, nextDiscriminator }: MplsOamDeps,
  ) {
    const { profile, router, host } = options;
    const { ping, reply, traceroute, bfd } = profile;
    this.router = router;
    this.#ldp = ldp;
    this.#context = context;
    this.#profile = profile;
    this.#host = host;
    this.#local = parseAddress(router.address);
    this.#prefix = `${ping.prefix}/${ping.prefixLength}`;
    this.discriminator = nextDiscriminator();
    const { discriminator } = this;
    const path = (ttl: number) => this.#path(ttl);
    this.#bfd = new LspBfd({ profile, router, host, discriminator, nextDiscriminator, path }, context);
    this.#ping = new LspPing(
      {
        bfdDiscriminator: bfd.enabled ? discriminator : undefined,
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
    const { tx, rx, flaps } = this.#bfd.counters;
    return {
      tx: sent + this.#answered + tx,
      rx: received + rx,
      flaps: this.#ping.flaps + flaps,
      prefixesSent: 0,
      prefixesReceived: 0,
    };
  }

  start(now: number): void {
    this.#startedAt = now;
    this.#ping.start(now);
    this.#bfd.start(now);
  }

  advance(now: number): void {
    this.#ping.advance(now);
    this.#bfd.advance(now);
  }

  stop(): void {
    this.#ping.stop();
    this.#bfd.stop();
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
    const { bfdDiscriminator } = request;
    if (reply === undefined) return;
    const isAsked = bfdDiscriminator !== undefined && reply.returnCode === lspReturn.egress;
    this.#reply(
      { ...reply, bfdDiscriminator: isAsked ? this.#bfd.ask(bfdDiscriminator, received) : undefined },
      received,
    );
  }

  /** A packet of BFD along a path that ends here. */
  receiveBfd(bytes: Uint8Array, source: Int32Array): void {
    this.#bfd.receiveAlong(bytes, source);
  }

  /** One that comes back from the end of the own path. */
  receiveBfdBack(bytes: Uint8Array): void {
    this.#bfd.receiveBack(bytes);
  }

  get answers(): boolean {
    return this.#profile.reply.answer;
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
      ...this.#bfd.rows(now),
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
    const path = this.#path(ttl);
    if (path === undefined) return false;
    const destination = parseAddress(this.#profile.ping.destination);
    const ports = (lspPingPort << 16) | lspPingPort;
    const frame = { host: this.#host, source: this.#local, destination, ttl: 1, hasAlert: true, ports };
    sendDatagramFrame(this.#context, { ...frame, ...path }, bytes);
    return true;
  }

  /** `ttl`: that of the label. */
  #path(ttl: number): PathFrame | undefined {
    const { neighbours } = this.#context.layers.group;
    const path = this.#ldp.pathTo(this.#prefix);
    const slot = path === undefined ? -1 : (neighbours?.resolve(parseAddress(path.neighbour), 0, 0, this.#host) ?? -1);
    if (path === undefined || slot < 0 || neighbours === undefined) return undefined;
    const { trafficClass } = this.#profile.ping;
    return {
      mac: neighbours.macs.slice(slot * macBytes, (slot + 1) * macBytes),
      // Without a label where the neighbour asks for none.
      mpls: path.label === implicitNull ? undefined : { label: path.label, trafficClass, ttl },
    };
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
