import { copyOf, createMemory, type FrameSink, formatAddress, HostGroup } from '@rushhour/wire';
import { InsideHosts } from '../../../engines/ipsec-tunnel/inside-hosts.ts';
import type { HostNetwork } from '../../host-network.ts';

const headroom = 64;
const bufferBytes = 4096;

interface Side {
  readonly group: HostGroup;
  readonly network: HostNetwork;
}

/** What arrives of an IP packet: none, one or more. */
export type Impairment = (packet: Uint8Array) => readonly Uint8Array[];

/** Two groups of hosts with a wire in memory between them. IP packets are delivered once the event at hand is handled. */
export const createMemoryNetworks = (
  ranges: readonly [string, string],
  impair: Impairment = (packet) => [packet],
): [HostNetwork, HostNetwork] => {
  const sides: Side[] = [];
  const createSide = (range: string, index: number): Side => {
    const memory = createMemory(bufferBytes);
    const sink: FrameSink = {
      memory,
      mtu: 1500,
      begin: (length) => (length + headroom > bufferBytes ? -1 : headroom),
      commit(offset, length) {
        for (const packet of impair(copyOf(memory.bytes, offset, offset + length))) {
          const frame = createMemory(headroom + packet.length);
          frame.bytes.set(packet, headroom);
          setImmediate(() => sides[1 - index]?.group.receive(frame, headroom, headroom + packet.length));
        }
      },
    };
    const [start = '', end = start] = range.split('-');
    const hosts = new InsideHosts({ start, end });
    const nowUs = Math.floor(performance.now() * 1000);
    const group = new HostGroup({ sink, hosts, nowUs, random: Math.random, hasEthernet: false });
    const addresses = Array.from({ length: hosts.count }, (_, host) => {
      const words = new Int32Array(4);
      hosts.writeAddress(host, words, 0);
      return formatAddress(words, 0);
    });
    const layers = { group, hostOf: (words: Int32Array) => hosts.indexOf(words, 0), scheduleFlush: () => {} };
    return { group, network: { addresses, layers } as unknown as HostNetwork };
  };
  sides.push(...ranges.map(createSide));
  return sides.map(({ network }) => network) as [HostNetwork, HostNetwork];
};
