import { i32, u8 } from './bytes.ts';
import type { Frame } from './frame.ts';

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
