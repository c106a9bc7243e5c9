import {
  checksumOf,
  ipProtocol,
  isMappedAddress,
  type Memory,
  pseudoHeaderSum,
  sumBytes,
  writeAddress6,
  writeIpv4,
  writeIpv6,
  writeUdp,
} from '@rushhour/wire';
import type { PlaneContext } from './router.ts';

const ethernetBytes = 14;
const macBytes = 6;
const udpBytes = 8;
const labelBytes = 4;
const minFrameBytes = 60;
const internetworkControl = 0xc0;
const etherTypes = { v4: 0x0800, v6: 0x86dd, mpls: 0x8847 } as const;
const routerAlert = 0x94040000;

interface DatagramFrame {
  readonly host: number;
  /** Whom the frame is for. */
  readonly mac: Uint8Array;
  readonly source: Int32Array;
  readonly destination: Int32Array;
  readonly ttl: number;
  /** Source port × 65536 + destination port. */
  readonly ports: number;
  readonly tos?: number;
  /** The header of IPv4 has the option that makes routers look at the packet. */
  readonly hasAlert?: boolean;
  /** In front of the packet. */
  readonly mpls?: { readonly label: number; readonly trafficClass: number; readonly ttl: number } | undefined;
}

/** Sends a datagram to a MAC, wherever its address would be reached. */
export const sendDatagramFrame = ({ layers }: PlaneContext, frame: DatagramFrame, payload: Uint8Array): void => {
  const { sink, writeMac, scheduleFlush } = layers;
  const { host, mac, source, destination, ports, mpls } = frame;
  const isV4 = isMappedAddress(destination, 0);
  const headerBytes = isV4 ? (frame.hasAlert ? 24 : 20) : 40;
  const shim = mpls === undefined ? 0 : labelBytes;
  const length = udpBytes + payload.length;
  const frameBytes = Math.max(minFrameBytes, ethernetBytes + shim + headerBytes + length);
  const at = sink.begin(frameBytes, host);
  if (at < 0) return;
  const { bytes, view } = sink.memory;
  const ip = at + ethernetBytes + shim;
  const udp = ip + headerBytes;
  bytes.fill(0, at, at + frameBytes);
  bytes.set(mac, at);
  writeMac(host, bytes, at + macBytes);
  view.setUint16(at + 2 * macBytes, mpls !== undefined ? etherTypes.mpls : isV4 ? etherTypes.v4 : etherTypes.v6);
  if (mpls !== undefined)
    view.setInt32(at + ethernetBytes, (mpls.label << 12) | (mpls.trafficClass << 9) | 0x100 | mpls.ttl);
  if (isV4) writeHeader4(sink.memory, ip, headerBytes + length, frame);
  else writeHeader6(sink.memory, ip, length, frame);
  bytes.set(payload, udp + udpBytes);
  const ends = new Int32Array(8);
  ends.set(source);
  ends.set(destination, 4);
  writeUdp(sink.memory, udp, udp + length, ports, pseudoHeaderSum(ends, 0, ipProtocol.udp));
  sink.commit(at, frameBytes);
  scheduleFlush();
};

const writeHeader4 = (memory: Memory, at: number, length: number, frame: DatagramFrame): void => {
  const { view } = memory;
  const { source, destination, ttl, tos = internetworkControl } = frame;
  writeIpv4(view, at, {
    ...{ tos, length, identification: 0, fragment: 0x4000, ttl, protocol: ipProtocol.udp },
    ...{ source: source[3] as number, destination: destination[3] as number },
  });
  if (!frame.hasAlert) return;
  view.setUint8(at, 0x46);
  view.setUint32(at + 20, routerAlert);
  view.setUint16(at + 10, 0);
  view.setUint16(at + 10, checksumOf(sumBytes(memory, at, at + 24)));
};

const writeHeader6 = ({ view }: Memory, at: number, payloadLength: number, frame: DatagramFrame): void => {
  const { source, destination, ttl: hopLimit, tos: trafficClass = internetworkControl } = frame;
  writeIpv6(view, at, { trafficClass, flowLabel: 0, payloadLength, protocol: ipProtocol.udp, hopLimit });
  writeAddress6(view, at + 8, source, 0);
  writeAddress6(view, at + 24, destination, 0);
};
