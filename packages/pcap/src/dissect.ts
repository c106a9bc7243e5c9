import type { Frame } from './frame.ts';
import { readLinkLayer } from './link-layer.ts';
import { readNetworkLayer } from './network-layer.ts';
import type { Packet } from './packet.ts';
import { readTransportLayer } from './transport-layer.ts';

/** Reads link, IP and transport headers of `packet` into `frame`. Later fragments have no transport header. */
export function dissect(frame: Frame, packet: Packet): void {
  frame.bytes = packet.bytes;
  frame.linkType = packet.linkType;
  frame.linkStart = packet.start;
  frame.end = packet.start + packet.length;
  readLinkLayer(frame);
  readNetworkLayer(frame);
  frame.hasPorts = false;
  if (frame.ipVersion !== 0 && frame.fragmentOffset === 0) readTransportLayer(frame);
}
