import type { Load, TcpClientConfig } from '@rushhour/protocol';
import type { EngineContext, LoadChange } from '../../engine.ts';
import { prepareSources, type SourcePool } from '../../net/addresses/source-addresses.ts';
import { createStreamTransport } from '../../net/data-path.ts';
import { ClientLifecycle } from '../../net/load/client-lifecycle.ts';
import { DrawnTexts } from '../../net/load/drawn-texts.ts';
import { LoadDriver } from '../../net/load/load-driver.ts';
import { filledMessages } from '../../net/load/payload.ts';
import { chooserOf, cyclerOf } from '../../net/load/rotation.ts';
import { generatorLoadMetrics } from '../../net/metrics/generator-load-metrics.ts';
import type { Message, Transport } from '../../net/transport/transport.ts';
import { changeRate, LoadDrivenClient } from '../load-driven-client.ts';
import { TcpMeters } from './meters.ts';
import { type SessionOwner, type SessionPlan, TcpSession } from './session.ts';

type Context = EngineContext<TcpClientConfig>;

const failurePauseMs = 100;
const drainMs = 1000;
/** Connections whose retransmits are read in one sweep. */
const retransmitReads = 500;
const bulkBytes = { paced: 131_072, unlimited: 1_048_576 } as const;

const messageLoad = (config: TcpClientConfig, bytes: number): Load => {
  if (config.rateBps !== undefined) return { rate: config.rateBps / 8 / bytes };
  if (config.messagesPerSecond !== undefined) return { rate: config.messagesPerSecond * config.connections };
  return {};
};

/** Keeps connections and their messages at the configured load. */
class TcpClient extends LoadDrivenClient implements SessionOwner {
  readonly #context: Context;
  readonly #config: TcpClientConfig;
  readonly #sources: SourcePool;
  readonly #transport: Transport;
  readonly #nextMessage: () => Message;
  readonly #drawn: DrawnTexts | undefined;
  readonly #spent = new Set<number>();
  /** By slot. */
  readonly #active: (TcpSession | undefined)[] = [];
  #activeCount = 0;
  readonly #sessions: LoadDriver;
  readonly #messages: LoadDriver;
  readonly #choose;

  constructor(context: Context, sources: SourcePool) {
    super();
    const { config, duration, samples } = context;
    this.#context = context;
    this.#config = config;
    this.#sources = sources;
    const { noDelay, keepAliveSec, tuning } = config;
    const isPaced = (config.rateBps ?? config.messagesPerSecond) !== undefined;
    this.#transport = createStreamTransport(
      { path: config.dataPath, note: context.note, hostNetwork: context.hostNetwork },
      { noDelay, keepAliveSec, readSize: 'large', closesImmediately: false, countsRetransmits: true, tuning },
    );
    const bulk = isPaced ? bulkBytes.paced : bulkBytes.unlimited;
    const messages = filledMessages(config.payload, bulk);
    this.#nextMessage = cyclerOf(messages.map((bytes) => this.#transport.prepareMessage(bytes)));
    this.#drawn = config.drawn && new DrawnTexts(config.drawn, config.connections);
    const meanBytes =
      this.#drawn?.meanBytes() ?? messages.reduce((sum, { length }) => sum + length, 0) / messages.length;
    const { createAlarm } = this.#transport;
    const endpoints = config.targets.map((target) => ({
      port: target.port,
      weight: target.weight,
      address: context.addressOf(target.host),
      plan: this.#planOf(new TcpMeters(samples.target(`${target.host}:${target.port}`))),
    }));
    this.#choose = chooserOf(endpoints, config.rotation);
    const lag = samples.histogram(generatorLoadMetrics.scheduleLag);
    const sessionWait = samples.histogram(generatorLoadMetrics.sessionWait);
    const shared = { duration, lag, sessionWait, createAlarm };
    this.#sessions = new LoadDriver({
      ...shared,
      load: config.load,
      ...(config.openSessions !== undefined && { slots: config.connections }),
      busy: config.openSessions,
      limit: config.totalSessions ?? (duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY),
      begin: (slot, intended) => this.#open(slot, intended),
    });
    this.#messages = new LoadDriver({
      ...shared,
      load: messageLoad(config, meanBytes),
      limit: Number.POSITIVE_INFINITY,
      begin: (slot, _, now) => this.#active[slot]?.send(now),
    });
    this.lifecycle = this.#createLife();
  }

  async start(): Promise<void> {
    await this.lifecycle.run(() => {
      this.#messages.start();
      for (let slot = 0; slot < this.#config.connections; slot++) this.#sessions.offer(slot, performance.now());
      this.#sessions.start();
    });
    this.#countRetransmits();
  }

  changeLoad(change: LoadChange) {
    if (change.concurrentSessions !== undefined) {
      const isKept = this.#sessions.changeBusy(change.concurrentSessions);
      return isKept ? {} : { rejected: 'this run keeps no number of sessions' };
    }
    return changeRate(change, { engine: 'tcp', member: 'sessionsPerSecond', noun: 'sessions', driver: this.#sessions });
  }

  protected override async release(): Promise<void> {
    for (const session of this.#active) session?.abandon();
    await this.#transport.close();
    await this.#sources.close();
  }

  onOpen(session: TcpSession, now: number): void {
    const { mode, holdMs } = this.#config;
    if (mode === 'connect' && holdMs === 0) session.leave();
    else if (holdMs > 0) this.lifecycle.schedule(holdMs, () => session.leave());
    if (mode === 'send' || mode === 'echo') this.onReady(session, now);
  }

  onReady(session: TcpSession, now: number): void {
    if (this.#active[session.slot] === session) this.#messages.offer(session.slot, now);
  }

  onEnd(session: TcpSession, hasFailed: boolean): void {
    const { slot } = session;
    if (this.#active[slot] === session) {
      this.#active[slot] = undefined;
      this.#activeCount--;
    }
    this.#messages.withdraw(slot);
    this.lifecycle.settle();
    if (this.lifecycle.isEnding || this.#sessions.isExhausted || this.#spent.has(slot)) return;
    const { reopenSessionMs } = this.#config;
    const waitMs = hasFailed && !this.#sessions.isPaced ? Math.max(reopenSessionMs, failurePauseMs) : reopenSessionMs;
    if (waitMs === 0) this.#sessions.offer(slot, performance.now());
    else this.lifecycle.schedule(waitMs, () => this.#sessions.offer(slot, performance.now()));
  }

  #open(slot: number, intended: number): void {
    const { address, port, plan } = this.#choose(slot);
    const route = { address, port, ...this.#sources.next(slot) };
    if (this.#active[slot] === undefined) this.#activeCount++;
    this.#active[slot] = new TcpSession(slot, plan, { route, intended });
  }

  #planOf(meters: TcpMeters): SessionPlan {
    const drawMessage = this.#drawn && ((user: number) => this.#drawMessage(user));
    const transport = this.#transport;
    return { config: this.#config, transport, nextMessage: this.#nextMessage, drawMessage, meters, owner: this };
  }

  #drawMessage(slot: number): Buffer | undefined {
    const text = this.#drawn?.next(slot);
    if (text === undefined) this.#spent.add(slot);
    // A message has at least one byte.
    return text === undefined ? undefined : Buffer.from(text || '\0');
  }

  /** Closes connections that are more than wanted. */
  #closeExcess(now: number): void {
    let left = this.#sessions.excessAt(now);
    for (const session of this.#active) {
      if (session === undefined) continue;
      if (left-- <= 0) return;
      session.leave();
    }
  }

  #countRetransmits(limit?: number): void {
    const count = this.#transport.retransmits?.(limit);
    if (count === undefined) return;
    const retransmits = this.#context.samples.counter('tcp.retransmits');
    retransmits.add(count - retransmits.value);
  }

  #createLife(): ClientLifecycle {
    const { samples, signal } = this.#context;
    return new ClientLifecycle({
      engine: 'tcp',
      samples,
      signal,
      drivers: [this.#sessions, this.#messages],
      sweepMs: 100,
      drainMs,
      sweep: (now) => {
        for (const session of this.#active) session?.sweep(now);
        this.#closeExcess(now);
        this.#countRetransmits(retransmitReads);
      },
      isDone: () => (this.#sessions.isExhausted || this.#drawn?.areSpent === true) && this.#activeCount === 0,
      isIdle: () => this.#activeCount === 0,
      retire: () => {
        for (const session of this.#active) session?.leave();
      },
    });
  }
}

export const prepareTcpClient = async (context: Context): Promise<LoadDrivenClient> =>
  new TcpClient(context, await prepareSources(context.config.sources, context));
