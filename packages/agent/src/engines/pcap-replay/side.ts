import type { FramePath, ReplayPart } from '@rushhour/protocol';
import type { EngineContext, Samples } from '../../engine.ts';
import { noteUnusedSources } from '../../net/addresses/source-addresses.ts';
import { openFrameSender } from '../../net/frame-path.ts';
import { NextHopSilent } from '../../net/packet/neighbour-resolver.ts';
import { FrameFeed, slotsFor } from './frame-feed.ts';
import { Player } from './player.ts';
import type { ReplayEnds } from './replay-ends.ts';
import type { ReplayPath } from './replay-path.ts';
import { type ReplaySchedule, readReplaySchedule } from './replay-schedule.ts';

const askAtStartMs = 5000;
// With a longer delay all overdue frames would be sent in a burst.
const latestMs = 100;
const enoughFrames = 1024;

export interface SideOptions {
  readonly context: Pick<EngineContext<unknown>, 'samples' | 'note' | 'host'>;
  readonly part: Omit<ReplayPart, 'startAfterMs'>;
  readonly role: 'client' | 'server';
  readonly path: ReplayPath;
  readonly ends: ReplayEnds;
  readonly isOwn: (server: string | undefined) => boolean;
  readonly framePath: FramePath | undefined;
}

/** One side of a replay: the frames it sends and expects. */
export class Side {
  readonly schedule: ReplaySchedule;
  readonly #options: SideOptions;
  readonly #feed: FrameFeed | undefined;
  /** Number of loops combined into one stock. */
  readonly #copies: number;
  #player: Player | undefined;
  #isClosed = false;

  private constructor(options: SideOptions, schedule: ReplaySchedule) {
    this.#options = options;
    this.schedule = schedule;
    const { stock } = schedule;
    checkLength(options, schedule);
    this.#copies = copiesOf(options.part, schedule);
    if (stock.count === 0) return;
    stock.repeat(this.#copies, schedule.frames);
    const { device } = options.path;
    const { isCaptured } = options.context.host;
    const sizes = { count: slotsFor(stock), bytes: Math.max(60, stock.longest), isCaptured };
    const sender = openFrameSender({ path: options.framePath, device, note: options.context.note, ...sizes });
    this.#feed = new FrameFeed(stock, sender, { pool: options.ends.clients, clients: schedule.clients });
  }

  static async read(options: SideOptions): Promise<Side> {
    const { context, part, role, path, ends, isOwn } = options;
    const schedule = await readReplaySchedule({ part, role, ends, isOwn, mac: path.device.mac, note: context.note });
    return new Side(options, schedule);
  }

  /** Duration from the first to the end of the last loop; undefined when unknown. */
  get lengthMs(): number | undefined {
    const { timetable, frames } = this.schedule;
    const { loops, mostFrames } = this.#options.part;
    if (timetable === undefined) return undefined;
    const max = Math.ceil((mostFrames ?? Number.POSITIVE_INFINITY) / frames);
    const played = loops === 0 ? max : Math.min(loops, max);
    return Number.isFinite(played) ? played * timetable.loopMs : undefined;
  }

  /** Resolves the next hop and loads all frames. Returns the start time: `origin`, or later after a late answer. */
  async load(origin: number): Promise<number> {
    if (this.#feed === undefined) return origin;
    const { path, part, context } = this.#options;
    const mac = await path.resolve(askAtStartMs);
    if (mac === undefined && part.rewrite.hasNewMacs)
      throw new NextHopSilent(`${path.nextHop} does not answer ARP or ND on ${path.device.name}`);
    if (this.#isClosed) return origin;
    this.schedule.stock.setNextHop(mac ?? Buffer.alloc(6, 0xff));
    this.#feed.load();
    const lateMs = performance.now() - origin;
    if (lateMs < latestMs) return origin;
    context.note(`frames started ${Math.round(lateMs)} ms late: ${path.nextHop} answered late`);
    return performance.now();
  }

  /** Starts replaying at `origin`; undefined when there is nothing to send. */
  play(origin: number): Promise<void> | undefined {
    if (this.#feed === undefined || this.#isClosed) return undefined;
    const { context, part, role, path } = this.#options;
    const samples: Samples = context.samples;
    const { timetable, frames } = this.schedule;
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

  /** Notes when the networks hold more client addresses than the capture uses. */
  noteUnusedClients(): void {
    const { context, part, ends } = this.#options;
    if (!part.rewrite.hasNewAddresses || this.#player === undefined) return;
    const renewals = part.renewEvery === 0 ? 1 : Math.ceil(this.#player.loops / part.renewEvery);
    const used = this.schedule.clients * renewals;
    const per = part.renewEvery === 0 ? 'client of the capture' : 'client of the capture and renewal';
    noteUnusedSources(context.note, { available: ends.clientCount, used, per });
  }

  close(): void {
    this.stop();
    this.#isClosed = true;
    this.#feed?.close();
  }
}

/** Repeats short captures at maximum speed within one stock, because all TX paths are fastest with large batches. */
const copiesOf = (
  { loops, loopDelayMs, renewEvery }: SideOptions['part'],
  { stock, timetable }: ReplaySchedule,
): number => {
  if (timetable !== undefined || loopDelayMs > 0 || renewEvery > 0 || stock.count === 0) return 1;
  const wanted = Math.max(1, Math.floor(enoughFrames / stock.count));
  return loops === 0 ? wanted : Math.min(loops, wanted);
};

const checkLength = ({ path, part }: SideOptions, { stock }: ReplaySchedule): void => {
  const { mtu, name } = path.device;
  // One VLAN tag is not counted, as in the kernel.
  if (stock.longest <= mtu + 18) return;
  const message = `frames of ${stock.longest} bytes exceed the MTU ${mtu} of ${name}`;
  throw new RangeError(`${message}: packets up to ${part.rewrite.mtu} bytes are allowed by the job`);
};
