import type { FramePath, ReplayPart } from '@rushhour/protocol';
import type { EngineContext, Samples } from '../../engine.ts';
import { chooseFrameSender } from '../../net/frame-path.ts';
import { NeighbourSilent } from '../../net/packet/neighbourhood.ts';
import { FrameFeed, placesFor } from './frame-feed.ts';
import { Player } from './player.ts';
import type { ReplayEnds } from './replay-ends.ts';
import type { ReplayPath } from './replay-path.ts';
import { readScore, type Score } from './score.ts';

const askAtStartMs = 5000;
// Later than that the frames that were due meanwhile would leave in a burst.
const latestMs = 100;
const enoughFrames = 1024;

export interface SideWish {
  readonly context: Pick<EngineContext<unknown>, 'samples' | 'note' | 'host'>;
  readonly part: Omit<ReplayPart, 'startAfterMs'>;
  readonly role: 'client' | 'server';
  readonly path: ReplayPath;
  readonly ends: ReplayEnds;
  readonly isOwn: (server: string | undefined) => boolean;
  readonly framePath: FramePath | undefined;
}

/** One side of one playing: what it sends, and what it expects. */
export class Side {
  readonly score: Score;
  readonly #wish: SideWish;
  readonly #feed: FrameFeed | undefined;
  /** Playings that are sent as if they were one. */
  readonly #copies: number;
  #player: Player | undefined;
  #isClosed = false;

  private constructor(wish: SideWish, score: Score) {
    this.#wish = wish;
    this.score = score;
    const { stock } = score;
    checkLength(wish, score);
    this.#copies = copiesOf(wish.part, score);
    if (stock.count === 0) return;
    stock.repeat(this.#copies, score.frames);
    const { device } = wish.path;
    const { isCaptured } = wish.context.host;
    const sizes = { count: placesFor(stock), bytes: Math.max(60, stock.longest), isCaptured };
    const sender = chooseFrameSender({ path: wish.framePath, device, note: wish.context.note, ...sizes });
    this.#feed = new FrameFeed(stock, sender, { pool: wish.ends.clients, clients: score.clients });
  }

  static async read(wish: SideWish): Promise<Side> {
    const { context, part, role, path, ends, isOwn } = wish;
    const score = await readScore({ part, role, ends, isOwn, mac: path.device.mac, note: context.note });
    return new Side(wish, score);
  }

  /** When the last playing is over, reckoned from the first; undefined where nobody knows. */
  get lengthMs(): number | undefined {
    const { timetable, frames } = this.score;
    const { loops, mostFrames } = this.#wish.part;
    if (timetable === undefined) return undefined;
    const most = Math.ceil((mostFrames ?? Number.POSITIVE_INFINITY) / frames);
    const played = loops === 0 ? most : Math.min(loops, most);
    return Number.isFinite(played) ? played * timetable.loopMs : undefined;
  }

  /** Makes frames go to the next hop. Gives back when playing can begin: at `origin` unless the next hop is slow to answer. */
  async load(origin: number): Promise<number> {
    if (this.#feed === undefined) return origin;
    const { path, part, context } = this.#wish;
    const mac = await path.resolve(askAtStartMs);
    if (mac === undefined && part.rewrite.hasNewMacs)
      throw new NeighbourSilent(`${path.nextHop} does not answer who it is on ${path.device.name}`);
    if (this.#isClosed) return origin;
    this.score.stock.setNextHop(mac ?? Buffer.alloc(6, 0xff));
    this.#feed.load();
    const lateMs = performance.now() - origin;
    if (lateMs < latestMs) return origin;
    context.note(`frames began ${Math.round(lateMs)} ms late: ${path.nextHop} was slow to answer`);
    return performance.now();
  }

  /** Plays from then on; undefined when nothing is to be sent. */
  play(origin: number): Promise<void> | undefined {
    if (this.#feed === undefined || this.#isClosed) return undefined;
    const { context, part, role, path } = this.#wish;
    const samples: Samples = context.samples;
    const { timetable, frames } = this.score;
    this.#player = new Player({
      ...{ feed: this.#feed, timetable, frames, part, samples, copies: this.#copies, countsLoops: role === 'client' },
      onDown: () => context.note(`the link of ${path.device.name} was down: frames that were due then were not sent`),
    });
    this.#player.start(origin);
    return this.#player.done;
  }

  stop(): void {
    this.#player?.stop();
  }

  close(): void {
    this.stop();
    this.#isClosed = true;
    this.#feed?.close();
  }
}

/** Short captures that follow one another as fast as they can are made long: each way sends many frames best. */
const copiesOf = ({ loops, loopDelayMs, renewEvery }: SideWish['part'], { stock, timetable }: Score): number => {
  if (timetable !== undefined || loopDelayMs > 0 || renewEvery > 0 || stock.count === 0) return 1;
  const wanted = Math.max(1, Math.floor(enoughFrames / stock.count));
  return loops === 0 ? wanted : Math.min(loops, wanted);
};

const checkLength = ({ path, part }: SideWish, { stock }: Score): void => {
  const { mtu, name } = path.device;
  // One tag does not count, as it does not for the kernel.
  if (stock.longest <= mtu + 18) return;
  const message = `frames of ${stock.longest} bytes do not fit ${name}, whose MTU is ${mtu}`;
  throw new RangeError(`${message}: packets up to ${part.rewrite.mtu} bytes are allowed by the order`);
};
