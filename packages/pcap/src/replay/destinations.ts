import { dissect } from '../dissect.ts';
import { Frame } from '../frame.ts';
import { formatAddress } from '../ip-address.ts';
import type { PacketSink } from '../packet.ts';
import { findEnds, isSpecial } from './frame-ends.ts';

export type DestinationSet = Set<string>;

/** Adds every address that packets go to, as text. Groups, and addresses that hold on one link only, are left out. */
export function destinationsInto(found: DestinationSet): PacketSink {
  const frame = new Frame();
  return (packet) => {
    dissect(frame, packet);
    const ends = findEnds(frame);
    if (ends !== undefined && !isSpecial(frame.bytes, ends.destination, ends.size))
      found.add(formatAddress(frame.bytes, ends.destination, ends.size));
    return true;
  };
}
