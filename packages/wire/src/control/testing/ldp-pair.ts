import { LdpBindings } from '../ldp/bindings.ts';
import { type LdpOptions, LdpRouter } from '../ldp/router.ts';
import type { LdpSession } from '../ldp/session.ts';

/** LSR ids of two routers. */
export const [left, right] = [0x0a630001, 0x0a630002];
/** Their addresses, in both versions of IP. */
export const addresses = { ipv4: ['10.99.0.1', '10.99.0.2'], ipv6: ['fd99::1', 'fd99::2'] } as const;
const prefixes = { ipv4: ['11.0.0.0/24', '12.0.0.0/24'], ipv6: ['2001:db8:b::/64', '2001:db8:c::/64'] } as const;

export const optionsOf = (
  index: number,
  more: Partial<LdpOptions> = {},
  version: keyof typeof addresses = 'ipv4',
): LdpOptions => {
  const address = addresses[version][index] as string;
  const start = prefixes[version][index] as string;
  return {
    lsrId: index === 0 ? left : right,
    address,
    helloMs: 1000,
    helloHoldSec: 3,
    keepaliveMs: 2000,
    holdSec: 6,
    targeted: { peers: [], helloMs: 1000, holdSec: 4, accepts: true },
    bindings: new LdpBindings({ address, isImplicitNull: true, count: 500, start, offset: 0, firstLabel: 1000 }),
    ...more,
  };
};

const isGroup = (address: string): boolean => /^(22[4-9]|23[0-9])\.|^ff/.test(address);

interface PairOptions {
  /** The routers are on one link; otherwise they are only reachable by their addresses. */
  readonly hasLink?: boolean;
  readonly version?: keyof typeof addresses;
}

/** Two routers. `prepare` gets them before they start. */
export const createPair = (
  more: Partial<LdpOptions> = {},
  { hasLink = true, version = 'ipv4' }: PairOptions = {},
  prepare: (routers: readonly LdpRouter[]) => void = () => {},
) => {
  const tasks: (() => void)[] = [];
  let now = 0;
  const create = (index: number): LdpRouter => {
    const other = () => routers[1 - index] as LdpRouter;
    const address = addresses[version][index] as string;
    return new LdpRouter(optionsOf(index, more, version), {
      sendHello: (bytes, destination) => {
        if (hasLink || !isGroup(destination)) tasks.push(() => other().receiveHello(bytes, address, now));
      },
      connect: (_, attach) => {
        let far: LdpSession | undefined;
        const mine = attach({
          write: (bytes) =>
            tasks.push(() => {
              far?.received(bytes, now);
              mine.onRoom();
            }),
          close: () => tasks.push(() => far?.closed(now, undefined)),
        });
        tasks.push(() => {
          far = other().accept(
            {
              write: (bytes) =>
                tasks.push(() => {
                  mine.received(bytes, now);
                  far?.onRoom();
                }),
              close: () => tasks.push(() => mine.closed(now, undefined)),
            },
            address,
            now,
          );
          if (far === undefined) mine.closed(now, 'ECONNREFUSED');
          else mine.opened(now);
        });
      },
      onNeighbour: () => {},
    });
  };
  const routers: readonly LdpRouter[] = [create(0), create(1)];
  prepare(routers);
  const run = (ms: number) => {
    for (const end = now + ms; now < end; now += 50) {
      for (const router of routers) router.advance(now);
      while (tasks.length > 0) tasks.shift()?.();
    }
  };
  for (const router of routers) router.start(0);
  const sessionOf = (index: number) => [...(routers[index] as LdpRouter).neighbours.values()][0]?.session;
  return { routers, run, sessionOf, now: () => now };
};
