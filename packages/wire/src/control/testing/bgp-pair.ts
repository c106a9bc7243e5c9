import { copyOf } from '../../bytes/memory.ts';
import { parseAddress } from '../../ip/address.ts';
import type { BgpConnection, BgpStream } from '../bgp/connection.ts';
import { type BgpFamily, familyOf } from '../bgp/families.ts';
import type { BgpCapabilities } from '../bgp/open.ts';
import { OpeningQueue } from '../bgp/opening-queue.ts';
import { createPrefixSource, nextHopOf, type RouteSource } from '../bgp/route-source.ts';
import { BgpSession, type BgpSessionEvents } from '../bgp/session.ts';

const bytesOf = (address: string): Uint8Array => {
  const words = parseAddress(address);
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < 4; i++) view.setInt32(i * 4, words[i] as number);
  return address.includes(':') ? bytes : copyOf(bytes, 12);
};

/** Prefixes that 192.0.2.1 or 2001:db8::1 announces. */
export const sourceOf = (options: {
  first: string;
  count: number;
  family?: BgpFamily;
  communities?: number[];
}): RouteSource => {
  const { family = familyOf('ipv4-unicast'), first, count, communities = [] } = options;
  return createPrefixSource({
    family,
    first,
    offset: 0,
    count,
    nextHop: nextHopOf(family, bytesOf(family.addressBits === 32 ? '192.0.2.1' : '2001:db8::1')),
    attributes: {
      origin: 0,
      asPath: [65_000],
      med: 0,
      localPreference: undefined,
      communities,
      extendedCommunities: [],
    },
    distinguisher: Uint8Array.of(0, 1, 192, 0, 2, 1, 0, 1),
  });
};

interface PairOptions {
  capabilities?: Partial<BgpCapabilities>;
  leftSources: readonly RouteSource[];
  leftAs?: number;
  pathsPerPrefix?: number;
  bothConnect?: boolean;
}

const delayMs = 5;
const stepMs = 5;

/** Two sessions joined by streams in memory with a delay, driven by a clock of the test. */
class BgpPair {
  now = 0;
  openStreams = 0;
  /** Nothing passes while true. */
  isCut = false;
  /** SYNs are lost while true. */
  isDeaf = false;
  readonly left: BgpSession;
  readonly right: BgpSession;
  #events: { at: number; run: () => void }[] = [];

  constructor(options: PairOptions) {
    const { leftAs = 65_000 } = options;
    const expectedLeft = leftAs === 64_999 ? 65_000 : leftAs;
    this.left = this.#create({ as: leftAs, peerAs: 65_001, sources: options.leftSources }, options, () => this.right);
    const right = { as: 65_001, peerAs: expectedLeft, sources: [], isPassive: options.bothConnect !== true };
    this.right = this.#create(right, options, () => this.left);
    this.left.start(0);
    this.right.start(0);
  }

  run(ms: number): void {
    for (const end = this.now + ms; this.now < end; ) {
      this.now += stepMs;
      const due = this.#events.filter(({ at }) => at <= this.now);
      this.#events = this.#events.filter(({ at }) => at > this.now);
      for (const { run } of due) run();
      this.left.advance(this.now);
      this.right.advance(this.now);
    }
  }

  #create(
    side: { as: number; peerAs: number; sources: readonly RouteSource[]; isPassive?: boolean },
    { capabilities, pathsPerPrefix = 1 }: PairOptions,
    other: () => BgpSession,
  ): BgpSession {
    const families = capabilities?.families ?? [familyOf('ipv4-unicast')];
    const events: BgpSessionEvents = {
      connect: (attach) => this.#connect(attach, other()),
      onState() {},
      onDown() {},
    };
    return new BgpSession(
      {
        open: {
          as: side.as,
          holdSec: 90,
          routerId: side.as === 65_001 ? 2 : 1,
          capabilities: {
            fourByteAs: true,
            routeRefresh: true,
            extendedMessages: false,
            extendedNextHop: [],
            addPath: { sends: [], receives: [] },
            gracefulRestart: undefined,
            ...capabilities,
            families,
          },
        },
        peerAs: side.peerAs,
        keepaliveMs: 30_000,
        connectRetryMs: 5000,
        random: () => 1,
        openings: new OpeningQueue({ limit: 1, holdMs: 1000 }),
        isPassive: side.isPassive ?? false,
        sources: [...side.sources],
        pathsPerPrefix,
        updatesPerSec: 0,
        sendsEndOfRib: true,
      },
      events,
    );
  }

  #later(run: () => void): void {
    this.#events.push({ at: this.now + delayMs, run });
  }

  #connect(attach: (stream: BgpStream) => BgpConnection, target: BgpSession): void {
    let isOpen = true;
    let near: BgpConnection | undefined;
    let far: BgpConnection | undefined;
    this.openStreams++;
    const streamTo = (receiver: () => BgpConnection | undefined, sender: () => BgpSession): BgpStream => ({
      write: (bytes) =>
        this.#later(() => {
          if (!this.isCut) receiver()?.received(bytes, this.now);
          sender().onRoom();
        }),
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        this.openStreams--;
        this.#later(() => {
          if (!this.isCut) receiver()?.closed(this.now, undefined);
        });
      },
    });
    const initiator = target === this.left ? () => this.right : () => this.left;
    near = attach(streamTo(() => far, initiator));
    this.#later(() => {
      if (this.isDeaf) return undefined;
      if (this.isCut || !isOpen) return near?.closed(this.now, 'ECONNREFUSED');
      far = target.accept(
        streamTo(
          () => near,
          () => target,
        ),
        this.now,
      );
      near?.opened(this.now);
      return undefined;
    });
  }
}

export const createBgpPair = (options: PairOptions): BgpPair => new BgpPair(options);
