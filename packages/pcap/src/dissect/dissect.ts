import { i32, u8 } from '../bytes.ts';
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

const IP_IN_IP = 4;
const IPV6_IN_IP = 41;
const GRE = 47;
const VXLAN_PORTS = [4789, 8472];
const GENEVE_PORT = 6081;

/** Whether an IP protocol carries other IP packets. */
export function isTunnelProtocol(protocol: number): boolean {
  return protocol === GRE || protocol === IP_IN_IP || protocol === IPV6_IN_IP;
}

/** Whether a UDP frame is VXLAN or Geneve: by the port it goes to and the fixed bits of the header. */
export function isTunnel(frame: Frame): boolean {
  if (frame.payloadCaptured < 8) return false;
  const at = frame.payloadStart;
  if (VXLAN_PORTS.includes(frame.destinationPort)) return (i32(frame.bytes, at) & 0x08000000) !== 0;
  return frame.destinationPort === GENEVE_PORT && u8(frame.bytes, at) >>> 6 === 0;
}
