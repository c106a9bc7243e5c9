import { setTimeout as sleep } from 'node:timers/promises';
import type { PcapReplayClientConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { kernelEventLoop } from '../../net/loop/kernel-event-loop.ts';
import { CaptureRings } from './capture-ring.ts';
import { Receiver } from './receiver.ts';
import { ReplayEnds } from './replay-ends.ts';
import { ReplayPath } from './replay-path.ts';
import { Side } from './side.ts';

type Context = EngineContext<PcapReplayClientConfig>;

const askFirstMs = 1000;

/** Replays the client side of a capture and counts frames of the servers. */
class ReplayClient implements PreparedEngine {
  readonly #context: Context;
  readonly #path: ReplayPath;
  readonly #side: Side;
  readonly #receiver: Receiver;
  readonly #rings: CaptureRings;

  constructor(context: Context, path: ReplayPath, side: Side) {
    this.#context = context;
    this.#path = path;
    this.#side = side;
    this.#receiver = new Receiver(context.samples, [side.schedule.expected]);
    this.#rings = new CaptureRings([path.device], this.#receiver, context.note);
  }

  async start(): Promise<void> {
    const { signal, samples } = this.#context;
    samples.counter('pcap-replay.truncated').add(this.#side.schedule.truncated);
    const origin = await Promise.race([this.#side.load(performance.now()), aborted(signal)]);
    if (origin === undefined || signal.aborted) return;
    const played = Promise.all([this.#side.play(origin), this.#untilOver(origin)]);
    await Promise.race([played, this.#rings.broken, aborted(signal)]);
    this.#side.stop();
    this.#side.noteUnusedClients();
    await this.#receiver.untilQuiet();
    await this.#rings.drain();
    if (!signal.aborted) this.#receiver.giveUp();
    const drops = this.#rings.takeDrops();
    if (drops > 0)
      this.#context.note(`${drops} received frames were dropped because the ring was full: they may count as lost`);
  }

  async close(): Promise<void> {
    this.#rings.close();
    this.#side.close();
    this.#path.close();
    kernelEventLoop.release();
  }

  /** Waits for frames of the servers after the last frame of this side. */
  async #untilOver(origin: number): Promise<void> {
    const { lengthMs } = this.#side;
    const left = (lengthMs ?? 0) - (performance.now() - origin);
    const isEndless = this.#context.config.loops === 0 && this.#side.schedule.stock.count === 0;
    if (isEndless && lengthMs === undefined) await aborted(this.#context.signal);
    else if (left > 0) await sleep(left, undefined, { signal: this.#context.signal }).catch(() => {});
  }
}

export const prepareReplayClient = async (context: Context): Promise<PreparedEngine> => {
  const { config, host, addressOf } = context;
  epollPoller();
  kernelEventLoop.acquire();
  let path: ReplayPath | undefined;
  let side: Side | undefined;
  try {
    const ends = new ReplayEnds(config, addressOf);
    const peer = addressOf(config.targets[0]?.host ?? '');
    path = await ReplayPath.find({
      ...{ host, peer, own: ends.firstClient(peer), isEmulated: (address) => ends.clients.has(address) },
      ...{ interface: config.interface, nextHopMac: config.nextHopMac, vlan: config.rewrite.vlan },
    });
    const framePath = config.path;
    side = await Side.read({ context, part: config, role: 'client', path, ends, isOwn: () => true, framePath });
    // The peer may start later: the MAC is resolved again at the start.
    await path.resolve(askFirstMs);
    return new ReplayClient(context, path, side);
  } catch (error) {
    side?.close();
    path?.close();
    kernelEventLoop.release();
    throw error;
  }
};
