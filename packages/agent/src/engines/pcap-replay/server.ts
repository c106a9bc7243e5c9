import { setTimeout as sleep } from 'node:timers/promises';
import type { PcapReplayServerConfig, ReplayPart } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { turnLoop } from '../../net/loop/kernel-event-loop.ts';
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
/** What was sent last may be under way so long. */
const underWayMs = 250;

interface Voice {
  readonly part: ReplayPart;
  readonly path: ReplayPath;
  readonly side: Side;
}

/** Plays the servers' side of a capture for every client and counts what the clients send. */
class ReplayServer implements PreparedEngine {
  readonly #context: Context;
  readonly #voices: readonly Voice[];
  readonly #receiver: Receiver;
  readonly #rings: CaptureRings;

  constructor(context: Context, voices: readonly Voice[]) {
    const { samples, note, config } = context;
    this.#context = context;
    this.#voices = voices;
    this.#receiver = new Receiver(
      samples,
      voices.map(({ side }) => side.score.expected),
    );
    const names = new Set([...voices.map(({ path }) => path.device.name), ...devicesOf(config)]);
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
      for (const voice of this.#voices) this.#play(voice, origin).catch(fail);
    });
    await Promise.race([end, this.#rings.broken, failed]);
    for (const { side } of this.#voices) side.stop();
    const restMs = this.#underWay(performance.now() - origin);
    if (restMs !== undefined) await sleep(restMs);
    await this.#rings.drain();
    if (restMs !== undefined) this.#receiver.giveUp();
    const drops = this.#rings.takeDrops();
    if (drops > 0) note(`${drops} frames arrived for which there was no room: they may count as lost`);
  }

  async close(): Promise<void> {
    this.#rings.close();
    for (const { side, path } of this.#voices) {
      side.close();
      path.close();
    }
    turnLoop.release();
  }

  async #play({ side, part }: Voice, origin: number): Promise<void> {
    const begin = await side.load(origin + part.startAfterMs);
    if (!this.#context.signal.aborted) await side.play(begin);
  }

  /** How long the last frames may still be under way; undefined when clients may not have sent everything. */
  #underWay(sinceMs: number): number | undefined {
    const ends = this.#voices.map(({ side, part }) => part.startAfterMs + (side.lengthMs ?? Number.POSITIVE_INFINITY));
    const end = Math.max(...ends);
    return sinceMs > end ? Math.max(0, end + underWayMs - sinceMs) : undefined;
  }
}

const devicesOf = ({ listen }: PcapReplayServerConfig): string[] =>
  listen.flatMap(({ host }) => (wildcards.has(host) ? outwardDevices() : (findOwner(host) ?? [])));

const prepareVoice = async (context: Context, part: ReplayPart): Promise<Voice> => {
  const { config, host } = context;
  const hosts = new Set(config.listen.map((listen) => listen.host));
  const isEverywhere = [...hosts].some((address) => wildcards.has(address));
  // Names were resolved by the client alone: servers are told addresses.
  const ends = new ReplayEnds(part, (address) => address);
  const [first] = part.targets;
  const peer = ends.firstClient(first?.host ?? '');
  if (peer === undefined) throw new RangeError('no address of the client is named that could be sent to');
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
  turnLoop.acquire();
  const voices: Voice[] = [];
  try {
    for (const part of context.config.parts) voices.push(await prepareVoice(context, part));
    return new ReplayServer(context, voices);
  } catch (error) {
    for (const { side, path } of voices) {
      side.close();
      path.close();
    }
    turnLoop.release();
    throw error;
  }
};
