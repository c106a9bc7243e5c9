import { integerBelow, keyOf, type Seed, subkeyOf } from './random.ts';

export const rotationModes = ['roundRobin', 'random', 'sequential', 'sticky'] as const;
export type RotationMode = (typeof rotationModes)[number];

/** How many addresses and ports there are to rotate over. */
export interface RotationPool {
  readonly addresses: bigint;
  readonly ports: number;
  readonly seed: Seed;
}

/** Positions in an address set and a port set. */
export interface RotationChoice {
  readonly address: bigint;
  readonly port: number;
}

export type Rotation = (user: number, session: number) => RotationChoice;

/**
 * Which address and port the n-th session of an agent takes.
 * `roundRobin`: the next address each time, the next port once all addresses had their turn.
 * `sequential`: all ports of an address before the next address.
 * `sticky`: a user keeps its address and walks its ports; `session` counts within the user.
 * `random`: both drawn anew each time, by seed, user and session.
 * The first and second use every pair once before any repeats.
 */
export function createRotation(mode: RotationMode, { addresses, ports, seed }: RotationPool): Rotation {
  if (addresses < 1n || ports < 1) throw new RangeError('nothing to rotate over');
  const portCount = BigInt(ports);
  const key = keyOf(seed, 'rotation');
  const rotations: Record<RotationMode, Rotation> = {
    roundRobin: (_user, session) => ({
      address: BigInt(session) % addresses,
      port: Number((BigInt(session) / addresses) % portCount),
    }),
    sequential: (_user, session) => ({
      address: (BigInt(session) / portCount) % addresses,
      port: session % ports,
    }),
    sticky: (user, session) => ({ address: BigInt(user) % addresses, port: session % ports }),
    random: (user, session) => {
      const drawKey = subkeyOf(subkeyOf(key, user), session);
      return {
        address: integerBelow(subkeyOf(drawKey, 0), addresses),
        port: Number(integerBelow(subkeyOf(drawKey, 1), portCount)),
      };
    },
  };
  return rotations[mode];
}
