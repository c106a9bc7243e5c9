import { randomInt } from 'node:crypto';
import type { IcmpClientConfig } from '@rushhour/protocol';
import type { EngineContext, LoadChange } from '../../engine.ts';
import { PathUnavailable } from '../../net/data-path.ts';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import {
  type IcmpResponse,
  numberRequest,
  readMessage,
  requestTemplate,
  templateSumOf,
} from '../../net/icmp/icmp-message.ts';
import { type IcmpSocketKind, openIcmpSocket, probeIcmp } from '../../net/icmp/icmp-socket.ts';
import { type IcmpEvents, IcmpTransport } from '../../net/icmp/icmp-transport.ts';
import { writeSocketAddress } from '../../net/kernel/socket-address.ts';
import { ClientLifecycle } from '../../net/load/client-lifecycle.ts';
import { LoadDriver } from '../../net/load/load-driver.ts';
import { type Chooser, chooserOf } from '../../net/load/rotation.ts';
import { kernelEventLoop } from '../../net/loop/kernel-event-loop.ts';
import { countError } from '../../net/metrics/count-error.ts';
import { generatorLoadMetrics } from '../../net/metrics/generator-load-metrics.ts';
import { changeRate, LoadDrivenClient } from '../load-driven-client.ts';
import { type IcmpTarget, targetMeters } from './meters.ts';
import { Outstanding } from './outstanding.ts';

type Context = EngineContext<IcmpClientConfig>;

// Maximum number of requests in flight with a rate; without a rate `window` applies.
const slotsWithRate = 32_768;
const sweepMs = 20;

/** Sends echo requests to all targets and tracks their replies. */
class IcmpClient extends LoadDrivenClient implements IcmpEvents {
  readonly #context: Context;
  readonly #version: 4 | 6;
  readonly #kind: IcmpSocketKind;
  readonly #targets: readonly IcmpTarget[];
  readonly #choose: Chooser<IcmpTarget>;
  readonly #port: IcmpTransport;
  readonly #outstanding = new Outstanding();
  readonly #message: Buffer;
  readonly #templateSum: number;
  readonly #identifier = randomInt(65_536);
  readonly #news: IcmpResponse = { kind: 'none', reason: '', identifier: 0, sequence: 0 };
  readonly #driver: LoadDriver;
  #count = 0;

  constructor(context: Context, targets: readonly IcmpTarget[], kind: IcmpSocketKind) {
    super();
    const { config, duration, samples } = context;
    this.#context = context;
    this.#targets = targets;
    this.#kind = kind;
    this.#version = targets[0]?.address.includes(':') ? 6 : 4;
    this.#choose = chooserOf(targets, config.rotation);
    this.#message = requestTemplate(this.#version, config.payloadBytes);
    // Off by one is enough for a wrong checksum.
    this.#templateSum = templateSumOf(this.#message) + (config.hasWrongChecksums ? 1 : 0);
    this.#port = this.#open();
    this.#driver = new LoadDriver({
      duration,
      lag: samples.histogram(generatorLoadMetrics.scheduleLag),
      load: config.load,
      limit: Math.min(
        config.limit ?? Number.POSITIVE_INFINITY,
        duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY,
      ),
      createAlarm: (ring) => kernelEventLoop.createAlarm(ring),
      begin: (_slot, _intended, now) => this.#send(now),
    });
    this.lifecycle = new ClientLifecycle({
      engine: 'icmp',
      samples,
      signal: context.signal,
      drivers: [this.#driver],
      sweepMs,
      drainMs: config.timeoutMs + 2 * sweepMs,
      sweep: (now) => this.#sweep(now),
      isDone: () => this.#driver.isExhausted && this.#outstanding.count === 0,
      isIdle: () => this.#outstanding.count === 0,
      retire: () => {},
    });
  }

  start(): Promise<void> {
    return this.lifecycle.run(() => {
      const { load, window } = this.#context.config;
      const slots = load.rate === undefined ? window : slotsWithRate;
      for (let slot = 0; slot < slots; slot++) this.#driver.offer(slot, performance.now());
      this.#driver.start();
    });
  }

  changeLoad(change: LoadChange) {
    return changeRate(change, { engine: 'icmp', member: 'packetsPerSecond', noun: 'messages', driver: this.#driver });
  }

  protected override async release(): Promise<void> {
    // Requests without a reply count as lost.
    this.#outstanding.expire(Number.POSITIVE_INFINITY, (target) => this.#targets[target]?.lost.add(1));
    this.#port.close();
    kernelEventLoop.release();
  }

  onMessage(bytes: Buffer, start: number, end: number, _index: number, now: number): void {
    const news = this.#news;
    readMessage(bytes, { start, end, version: this.#version, kind: this.#kind }, news);
    if (news.kind === 'none') return;
    // On ping sockets the kernel replaces the identifier.
    const sentAt = this.#outstanding.settle(news.sequence, this.#kind === 'ping' ? -1 : news.identifier);
    if (Number.isNaN(sentAt)) return;
    const target = this.#targets[this.#outstanding.targetOf(news.sequence)] as IcmpTarget;
    if (news.kind === 'reply') {
      target.received.add(1);
      target.rtt.record((now - sentAt) * 1000);
    } else {
      target.samples.counter(`icmp.unreachable.${news.reason}`).add(1);
      target.lost.add(1);
    }
    this.#settle(now);
  }

  /** A message refused by the kernel was not sent. */
  onFail(sequence: number, code: string): void {
    const target = this.#targets[this.#outstanding.targetOf(sequence)] as IcmpTarget;
    if (Number.isNaN(this.#outstanding.settle(sequence, -1))) return;
    target.sent.add(-1);
    countError(target.samples, 'icmp', code);
    this.#settle(performance.now());
  }

  onError(code: string): void {
    countError(this.#context.samples, 'icmp', code);
  }

  #open(): IcmpTransport {
    const { sourceAddress, ttl, payloadBytes } = this.#context.config;
    const fd = openIcmpSocket({ version: this.#version, kind: this.#kind, sourceAddress, ttl });
    return new IcmpTransport(fd, { poller: epollPoller(), payloadBytes }, this);
  }

  #send(now: number): void {
    const target = this.#choose(0);
    const identifier = this.#identifierOf(target);
    const sequence = this.#outstanding.begin(target.index, identifier, now);
    if (sequence < 0) {
      this.#context.samples.counter('icmp.dropped').add(1);
      return;
    }
    this.#count++;
    numberRequest(this.#message, { version: this.#version, identifier, sequence }, this.#templateSum);
    target.sent.add(1);
    this.#port.send(target.peer, this.#message, sequence);
  }

  #identifierOf({ index }: IcmpTarget): number {
    const { identifiers } = this.#context.config;
    if (identifiers === 'agent') return this.#identifier;
    return (this.#identifier + (identifiers === 'target' ? index : this.#count)) & 0xffff;
  }

  #sweep(now: number): void {
    this.#outstanding.expire(now - this.#context.config.timeoutMs, (target) => {
      this.#targets[target]?.lost.add(1);
      this.#settle(now);
    });
  }

  #settle(now: number): void {
    this.#driver.offer(0, now);
    this.lifecycle.settle();
  }
}

const preferredKinds: readonly IcmpSocketKind[] = ['raw', 'ping'];

/** The configured socket kind, or the first available one. */
const chooseSocketKind = ({ socket }: IcmpClientConfig, note: (remark: string) => void): IcmpSocketKind => {
  const reasons: string[] = [];
  for (const kind of socket === 'auto' ? preferredKinds : [socket]) {
    const reason = probeIcmp(kind);
    if (reason === undefined) {
      if (reasons.length > 0)
        note(`ICMP by ${kind} sockets, which do not report unreachable messages: ${reasons.join('; ')}`);
      return kind;
    }
    reasons.push(reason);
  }
  throw new PathUnavailable(`ICMP cannot be sent here: ${reasons.join('; ')}`);
};

const peerOf = (address: string): Buffer => {
  const bytes = Buffer.alloc(28);
  return bytes.subarray(0, writeSocketAddress(bytes, 0, { address, port: 0 }));
};

export const prepareIcmpClient = async (context: Context): Promise<LoadDrivenClient> => {
  const { config, samples, note } = context;
  const targets = config.targets.map(({ host, weight }, index) => {
    const address = context.addressOf(host);
    return { index, address, weight, peer: peerOf(address), ...targetMeters(samples.target(host)) };
  });
  if (new Set(targets.map(({ address }) => address.includes(':'))).size > 1)
    throw new RangeError('targets mix IPv4 and IPv6 addresses');
  const kind = chooseSocketKind(config, note);
  epollPoller();
  kernelEventLoop.acquire();
  try {
    return new IcmpClient(context, targets, kind);
  } catch (error) {
    kernelEventLoop.release();
    throw error;
  }
};
