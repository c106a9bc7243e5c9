import { randomInt } from 'node:crypto';
import type { IcmpClientConfig } from '@rushhour/protocol';
import { icmpRequests, parseAddress } from '@rushhour/wire';
import type { EngineContext, LoadChange } from '../../engine.ts';
import { PathUnavailable } from '../../net/data-path.ts';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import type { IcmpResponse } from '../../net/icmp/icmp-message.ts';
import { type IcmpSocketKind, probeIcmp } from '../../net/icmp/icmp-socket.ts';
import { writeSocketAddress } from '../../net/kernel/socket-address.ts';
import { ClientLifecycle } from '../../net/load/client-lifecycle.ts';
import { LoadDriver } from '../../net/load/load-driver.ts';
import { type Chooser, chooserOf } from '../../net/load/rotation.ts';
import { kernelEventLoop } from '../../net/loop/kernel-event-loop.ts';
import { countError } from '../../net/metrics/count-error.ts';
import { generatorLoadMetrics } from '../../net/metrics/generator-load-metrics.ts';
import { changeRate, LoadDrivenClient } from '../load-driven-client.ts';
import { HostIcmpPath, type IcmpPath, type IcmpPathEvents } from './icmp-path.ts';
import { KernelIcmpPath } from './kernel-path.ts';
import { type IcmpTarget, targetMeters } from './meters.ts';
import { Outstanding } from './outstanding.ts';

type Context = EngineContext<IcmpClientConfig>;

// Maximum number of requests in flight with a rate; without a rate `window` applies.
const slotsWithRate = 32_768;
const sweepMs = 20;

/** Sends messages to all targets and tracks their replies. */
class IcmpClient extends LoadDrivenClient implements IcmpPathEvents {
  readonly #context: Context;
  readonly #targets: readonly IcmpTarget[];
  readonly #choose: Chooser<IcmpTarget>;
  readonly #path: IcmpPath;
  readonly #outstanding = new Outstanding();
  readonly #identifier = randomInt(65_536);
  readonly #isAnswered: boolean;
  readonly #driver: LoadDriver;
  #count = 0;
  /** Messages sent since the last sweep that nothing answers. */
  #unanswered = 0;

  constructor(context: Context, targets: readonly IcmpTarget[], openPath: (events: IcmpPathEvents) => IcmpPath) {
    super();
    const { config, duration, samples } = context;
    this.#context = context;
    this.#targets = targets;
    const { v4, v6 } = icmpRequests[config.messageType];
    this.#isAnswered = (v4 ?? v6)?.reply !== undefined;
    this.#choose = chooserOf(targets, config.rotation);
    this.#path = openPath(this);
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
      isDone: () => this.#driver.isExhausted && this.#outstanding.count + this.#unanswered === 0,
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
    this.#path.close();
    kernelEventLoop.release();
  }

  onResponse(news: IcmpResponse, now: number): void {
    const sentAt = this.#outstanding.settle(news.sequence, news.identifier);
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

  #send(now: number): void {
    const target = this.#choose(0);
    const identifier = this.#identifierOf(target);
    if (!this.#isAnswered) {
      this.#count++;
      this.#unanswered++;
      target.sent.add(1);
      this.#path.send(target, identifier, this.#count & 0xffff);
      return;
    }
    const sequence = this.#outstanding.begin(target.index, identifier, now);
    if (sequence < 0) {
      this.#context.samples.counter('icmp.dropped').add(1);
      return;
    }
    this.#count++;
    target.sent.add(1);
    this.#path.send(target, identifier, sequence);
  }

  #identifierOf({ index }: IcmpTarget): number {
    const { identifiers } = this.#context.config;
    if (identifiers === 'agent') return this.#identifier;
    return (this.#identifier + (identifiers === 'target' ? index : this.#count)) & 0xffff;
  }

  #sweep(now: number): void {
    const unanswered = this.#unanswered;
    this.#unanswered = 0;
    for (let i = 0; i < unanswered; i++) this.#settle(now);
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
  const { config, samples } = context;
  const targets = config.targets.map(({ host, weight }, index) => {
    const address = context.addressOf(host);
    return {
      index,
      address,
      weight,
      peer: peerOf(address),
      words: parseAddress(address),
      ...targetMeters(samples.target(host)),
    };
  });
  if (new Set(targets.map(({ address }) => address.includes(':'))).size > 1)
    throw new RangeError('targets mix IPv4 and IPv6 addresses');
  const openPath = pathOpener(context, targets[0]?.address.includes(':') ?? false);
  epollPoller();
  kernelEventLoop.acquire();
  try {
    return new IcmpClient(context, targets, openPath);
  } catch (error) {
    kernelEventLoop.release();
    throw error;
  }
};

const pathOpener = ({ config, hostNetwork, note }: Context, isV6: boolean): ((events: IcmpPathEvents) => IcmpPath) => {
  if (hostNetwork !== undefined) return (events) => new HostIcmpPath(config, hostNetwork, { isV6, events, note });
  if (config.messageType !== 'echo')
    throw new PathUnavailable(`ICMP messages of type ${config.messageType} need emulated hosts`);
  const kind = chooseSocketKind(config, note);
  return (events) => new KernelIcmpPath(config, { version: isV6 ? 6 : 4, kind }, events);
};
