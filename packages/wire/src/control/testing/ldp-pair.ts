import { LdpBindings } from '../ldp/bindings.ts';
import { type LdpOptions, LdpRouter } from '../ldp/router.ts';
import type { LdpSession } from '../ldp/session.ts';

export const [left, right] = [0x0a630001, 0x0a630002];

export const optionsOf = (address: number, first: number, more: Partial<LdpOptions> = {}): LdpOptions => ({
  lsrId: address,
  address,
  helloMs: 1000,
  helloHoldSec: 3,
  keepaliveMs: 2000,
  holdSec: 6,
  targeted: { peers: [], helloMs: 1000, holdSec: 4, accepts: true },
  bindings: new LdpBindings({ address, isImplicitNull: true, count: 500, first, length: 24, firstLabel: 1000 }),
  ...more,
});

/** Two routers, on one link or only reachable by their addresses. `prepare` gets them before they start. */
export const createPair = (
  more: Partial<LdpOptions> = {},
  hasLink = true,
  prepare: (routers: readonly LdpRouter[]) => void = () => {},
) => {
  const tasks: (() => void)[] = [];
  let now = 0;
  const create = (address: number, first: number): LdpRouter => {
    const other = () => routers[address === left ? 1 : 0] as LdpRouter;
    return new LdpRouter(optionsOf(address, first, more), {
      sendHello: (bytes, destination) => {
        if (hasLink || destination >>> 28 !== 0xe) tasks.push(() => other().receiveHello(bytes, address, now));
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
  const routers: readonly LdpRouter[] = [create(left, 0x0b000000), create(right, 0x0c000000)];
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
