import type { PcapReplayServerConfig, ReplayPart } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { kernelEventLoop } from '../../net/loop/kernel-event-loop.ts';
import { requireDevice } from '../../net/packet/device.ts';
import { findOwner, outwardDevices } from '../../net/packet/route.ts';
import { CaptureRings } from './capture-ring.ts';
import { Receiver } from './receiver.ts';
import { ReplayEnds } from './replay-ends.ts';
import { ReplayPath } from './replay-path.ts';
import { Side } from './side.ts';

type Context = EngineContext<PcapReplayServerConfig>;

const askFirstMs = 1000;
const wildcards = new Set(['0.0.0.0', '::']);

interface PartReplay {
  readonly part: ReplayPart;
  readonly path: ReplayPath;
  readonly side: Side;
}

/** Replays the server side of a capture for every client and counts frames of the clients. */
class ReplayServer implements PreparedEngine {
  readonly #context: Context;
  readonly #partReplays: readonly PartReplay[];
  readonly #receiver: Receiver;
  readonly #rings: CaptureRings;

  constructor(context: Context, partReplays: readonly PartReplay[]) {
    const { samples, note, config } = context;
    this.#context = context;
    this.#partReplays = partReplays;
    this.#receiver = new Receiver(
      samples,
      partReplays.map(({ side }) => side.schedule.expected),
    );
    const names = new Set([...partReplays.map(({ path }) => path.device.name), ...devicesOf(config)]);
    this.#rings = new CaptureRings(
      [...names].map((name) => requireDevice(name)),
      this.#receiver,
      note,
    );
  }

  async start(): Promise<void> {
    const { signal, note } = this.#context;
    const origin = performance.now();
    const end = aborted(signal);
    const failed = new Promise<never>((_, fail) => {
      for (const partReplay of this.#partReplays) this.#play(partReplay, origin).catch(fail);
    });
    await Promise.race([end, this.#rings.broken, failed]);
    for (const { side } of this.#partReplays) side.stop();
    const haveEnded = performance.now() - origin > this.#lengthMs;
    await this.#receiver.untilQuiet();
    await this.#rings.drain();
    if (haveEnded) this.#receiver.giveUp();
    const drops = this.#rings.takeDrops();
    if (drops > 0) note(`${drops} received frames were dropped because the ring was full: they may count as lost`);
  }

  async close(): Promise<void> {
    this.#rings.close();
    for (const { side, path } of this.#partReplays) {
      side.close();
      path.close();
    }
    kernelEventLoop.release();
  }

  async #play({ side, part }: PartReplay, origin: number): Promise<void> {
    const begin = await side.load(origin + part.startAfterMs);
    if (!this.#context.signal.aborted) await side.play(begin);
  }

  /** When the last client ends; infinite when it is not known. */
  get #lengthMs(): number {
    const ends = this.#partReplays.map(
      ({ side, part }) => part.startAfterMs + (side.lengthMs ?? Number.POSITIVE_INFINITY),
    );
    return Math.max(...ends);
  }
}

const devicesOf = ({ listen }: PcapReplayServerConfig): string[] =>
  listen.flatMap(({ host }) => (wildcards.has(host) ? outwardDevices() : (findOwner(host) ?? [])));

const preparePartReplay = async (context: Context, part: ReplayPart): Promise<PartReplay> => {
  const { config, host } = context;
  const hosts = new Set(config.listen.map((listen) => listen.host));
  const isEverywhere = [...hosts].some((address) => wildcards.has(address));
  // Only the client resolves names: servers are given addresses.
  const ends = new ReplayEnds(part, (address) => address);
  const [first] = part.targets;
  const peer = ends.firstClient(first?.host ?? '');
  if (peer === undefined) throw new RangeError('no client address is configured');
  const isOwn = (server: string | undefined) => isEverywhere || hosts.has(server ?? first?.host ?? '');
  const path = await ReplayPath.find({
    ...{ host, peer, own: [...hosts].find((address) => !wildcards.has(address)) },
    isEmulated: (address) => hosts.has(address),
    ...{ interface: config.interface, nextHopMac: config.nextHopMac, vlan: part.rewrite.vlan },
  });
  try {
    const side = await Side.read({ context, part, role: 'server', path, ends, isOwn, framePath: config.path });
    await path.resolve(askFirstMs);
    return { part, path, side };
  } catch (error) {
    path.close();
    throw error;
  }
};

export const prepareReplayServer = async (context: Context): Promise<PreparedEngine> => {
  epollPoller();
  kernelEventLoop.acquire();
  const partReplays: PartReplay[] = [];
  try {
    for (const part of context.config.parts) partReplays.push(await preparePartReplay(context, part));
    return new ReplayServer(context, partReplays);
  } catch (error) {
    for (const { side, path } of partReplays) {
      side.close();
      path.close();
    }
    kernelEventLoop.release();
    throw error;
  }
};
