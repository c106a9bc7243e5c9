import {
  alertHeaderBytes,
  igmpProtocol,
  isMappedAddress,
  type Memory,
  mldMessageAt,
  parseAddress,
  writeAlertHeader,
  writeMapped,
  writeMldHeader,
} from '@rushhour/wire';
import { ipv4Text, ipv4Word } from '../routers/ipv4-word.ts';
import type { PlaneContext } from '../routers/router.ts';
import { sendPacket } from '../routers/send-packet.ts';

const ethernetBytes = 14;
const macBytes = 6;
const minFrameBytes = 60;
const etherTypes = { v4: 0x0800, v6: 0x86dd } as const;

/** A host that speaks to multicast groups, with its address as IGMP or MLD have it. */
export interface GroupPort<Address> {
  readonly address: Address;
  readonly family: string;
  textOf(address: Address): string;
  /** A message from its host to a group. */
  send(bytes: Uint8Array, destination: Address): void;
}

/** Sends the IP packet of so many bytes that `write` puts into a frame to a group. */
export const sendToGroup = (
  { layers }: PlaneContext,
  { host, group, packetBytes }: { readonly host: number; readonly group: string; readonly packetBytes: number },
  write: (memory: Memory, at: number) => void,
): void => {
  const { sink, writeMac, scheduleFlush } = layers;
  const length = Math.max(minFrameBytes, ethernetBytes + packetBytes);
  const at = sink.begin(length, host);
  if (at < 0) return;
  const { bytes, view } = sink.memory;
  const words = parseAddress(group);
  const isV4 = isMappedAddress(words, 0);
  bytes.fill(0, at, at + length);
  view.setUint16(at, isV4 ? 0x0100 : 0x3333);
  view.setInt32(at + 2, isV4 ? 0x5e000000 | ((words[3] as number) & 0x7fffff) : (words[3] as number));
  writeMac(host, bytes, at + macBytes);
  view.setUint16(at + 2 * macBytes, isV4 ? etherTypes.v4 : etherTypes.v6);
  write(sink.memory, at + ethernetBytes);
  sink.commit(at, length);
  scheduleFlush();
};

interface GroupHost {
  readonly address: string;
  readonly host: number;
  /** Messages have the option that makes routers look at them. */
  readonly hasAlert: boolean;
}

export const igmpPort = ({ address, host, hasAlert }: GroupHost, context: PlaneContext): GroupPort<number> => {
  const source = ipv4Word(address);
  const key = new Int32Array(8);
  writeMapped(key, 0, source | 0);
  return {
    address: source,
    family: 'ipv4Multicast',
    textOf: ipv4Text,
    send(bytes, destination) {
      if (!hasAlert) {
        writeMapped(key, 4, destination | 0);
        if (sendPacket(context, { key, host, protocol: igmpProtocol, bytes })) context.layers.scheduleFlush();
        return;
      }
      const packetBytes = alertHeaderBytes + bytes.length;
      sendToGroup(context, { host, group: ipv4Text(destination), packetBytes }, (memory, at) => {
        memory.bytes.set(bytes, at + alertHeaderBytes);
        writeAlertHeader(memory, at, at + packetBytes, { source, destination });
      });
    },
  };
};

export const mldPort = ({ address, host, hasAlert }: GroupHost, context: PlaneContext): GroupPort<string> => ({
  address,
  family: 'ipv6Multicast',
  textOf: (text) => text,
  send(bytes, destination) {
    const messageAt = mldMessageAt(hasAlert);
    const packetBytes = messageAt + bytes.length;
    sendToGroup(context, { host, group: destination, packetBytes }, (memory, at) => {
      memory.bytes.set(bytes, at + messageAt);
      writeMldHeader(memory, at, at + packetBytes, { source: address, destination, hasAlert });
    });
  },
});
