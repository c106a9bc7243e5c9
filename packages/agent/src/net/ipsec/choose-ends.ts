import type { Rotation, Target } from '@rushhour/protocol';
import { chooserOf } from '../load/rotation.ts';

interface SourceOptions {
  /** Local addresses that may be used. */
  readonly addresses: readonly string[];
  readonly peers: readonly Pick<Target, 'host' | 'weight'>[];
  readonly rotation: Rotation;
  readonly sourceRotation: Rotation;
  /** All sessions to one peer have the same local address. */
  readonly sharesSource: boolean;
}

/** The two ends of the next session: the peer by rotation and weight, then a local address for it. */
export const endsChooser = (options: SourceOptions): ((slot: number) => { local: string; remote: string }) => {
  const { addresses, peers, rotation, sourceRotation, sharesSource } = options;
  const sources = addresses.map((address) => ({ address, weight: 1 }));
  const indexed = peers.map(({ host, weight }, index) => ({
    host,
    weight,
    shared: addresses[index % addresses.length] as string,
    // Each peer takes the addresses in turn, so that its sessions spread over them.
    choose: chooserOf(sources, sourceRotation),
  }));
  const choosePeer = chooserOf(indexed, rotation);
  return (slot) => {
    const { host, shared, choose } = choosePeer(slot);
    return { remote: host, local: sharesSource ? shared : choose(slot).address };
  };
};
