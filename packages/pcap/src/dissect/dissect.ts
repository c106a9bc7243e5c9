import { LINK_ETHERNET } from '../read/link-type.ts';
import { createPacket, type Packet } from '../read/packet.ts';
import type { Frame } from './frame.ts';
import { readLinkLayer } from './link-layer.ts';
import { readNetworkLayer } from './network-layer.ts';
import { readTransportLayer } from './transport-layer.ts';

/** Reads link, IP and transport headers of `packet` into `frame`. Later fragments have no transport header. */
export function dissect(frame: Frame, packet: Packet): void {
  frame.bytes = packet.bytes;
  frame.linkType = packet.linkType;
  frame.linkStart = packet.start;
  frame.end = packet.start + packet.length;
  dissectLayers(frame);
}

/** Reads the headers from `linkStart` to `end` of `bytes`. */
export function dissectLayers(frame: Frame): void {
  readLinkLayer(frame);
  readNetworkLayer(frame);
  frame.hasPorts = false;
  if (frame.ipVersion !== 0 && frame.fragmentOffset === 0) readTransportLayer(frame);
}

const ethernetPacket = createPacket();

/** Dissects the Ethernet frame in `bytes[start … start + length)`. */
export function dissectEthernet(frame: Frame, bytes: Uint8Array, start: number, length: number): void {
  ethernetPacket.bytes = bytes;
  ethernetPacket.start = start;
  ethernetPacket.length = length;
  ethernetPacket.linkType = LINK_ETHERNET;
  dissect(frame, ethernetPacket);
}
