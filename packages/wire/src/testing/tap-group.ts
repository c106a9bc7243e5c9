// Node only: a group of emulated hosts on a TAP device, driven by the event loop of Node.
import { createMemory } from '../bytes/memory.ts';
import { HostGroup, type HostGroupOptions } from '../host-group/host-group.ts';
import { createRouter, type FrameSink, type HostDirectory } from '../host-group/hosts.ts';
import { copyAddress, isMappedAddress, parseAddress } from '../ip/address.ts';
import { createRandom } from './random.ts';
import { openTap } from './tap-device.ts';

const batch = 64;
const frameBytes = 65_600;

/** Hosts 10.9.0.2, … and fd09::2, … with the MACs 02:09:00:00:00:02, …; 10.9.0.1 and fd09::1 are the kernel. */
export const labHosts = (count: number, tags = 0): HostDirectory => {
  const v4 = parseAddress('10.9.0.2');
  const v6 = parseAddress('fd09::2');
  const onLink = [
    { address: v4, bits: 96 + 16 },
    { address: v6, bits: 64 },
  ];
  return {
    indexOf(address, at) {
      const base = isMappedAddress(address, at) ? v4 : v6;
      for (let i = 0; i < 3; i++) if (address[at + i] !== base[i]) return -1;
      const index = ((address[at + 3] as number) - (base[3] as number)) | 0;
      return index >= 0 && index < count ? index : -1;
    },
    sourceFor(index, like, likeAt, to, toAt) {
      const base = isMappedAddress(like, likeAt) ? v4 : v6;
      copyAddress(base, 0, to, toAt);
      to[toAt + 3] = (base[3] as number) + index;
    },
    writeMac(index, bytes, at) {
      bytes[at] = 2;
      bytes[at + 1] = 9;
      bytes[at + 2] = 0;
      bytes[at + 3] = 0;
      bytes[at + 4] = (index + 2) >> 8;
      bytes[at + 5] = (index + 2) & 255;
    },
    tagsOf: () => tags,
    nextHop: createRouter({ onLink, gateway4: parseAddress('10.9.0.1'), gateway6: parseAddress('fd09::1') }),
  };
};

/** Flow key from an emulated host to an endpoint. Local port 0: chosen by the stack. */
export const labKey = (host: number, remote: string, remotePort: number, localPort = 0): Int32Array => {
  const words = parseAddress(remote);
  const key = new Int32Array(9);
  labHosts(1).sourceFor(host, words, 0, key, 0);
  copyAddress(words, 0, key, 4);
  key[8] = (localPort << 16) | remotePort;
  return key;
};

export interface TapGroup {
  readonly group: HostGroup;
  close(): void;
}

export const nowUs = (): number => Math.floor(performance.now() * 1000);

/** Starts a group on a new TAP device; frames are handled between the events of Node. */
export const startTapGroup = (
  name: string,
  options: Partial<HostGroupOptions> & { hostCount?: number; mtu?: number },
): TapGroup => {
  const tap = openTap(name);
  const received = createMemory(frameBytes);
  const sent = createMemory(frameBytes);
  const sink: FrameSink = {
    memory: sent,
    mtu: options.mtu ?? 1500,
    begin: () => 0,
    commit: (offset, length) => {
      tap.write(sent.bytes.subarray(offset, offset + length));
    },
  };
  const random = createRandom(7);
  const group = new HostGroup({ sink, hosts: labHosts(options.hostCount ?? 250), nowUs: nowUs(), random, ...options });
  let isOpen = true;
  const step = () => {
    if (!isOpen) return;
    group.advance(nowUs());
    let count = 0;
    while (count < batch) {
      const length = tap.read(received.bytes);
      if (length <= 0) break;
      group.receive(received, 0, length);
      count++;
    }
    group.flush();
    if (count > 0) setImmediate(step);
    else setTimeout(step, 0);
  };
  step();
  return {
    group,
    close() {
      isOpen = false;
      tap.close();
    },
  };
};
