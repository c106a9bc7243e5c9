import { copyOf, createMemory, Memory } from '../bytes/memory.ts';
import { HostGroup, type HostGroupOptions } from '../host-group/host-group.ts';
import { type BurstSink, createRouter, type FrameSink, type HostDirectory } from '../host-group/hosts.ts';
import { copyAddress, isMappedAddress, parseAddress } from '../ip/address.ts';
import { createRandom } from './random.ts';
import { cutFrame } from './segment-cutter.ts';

/** Hosts with consecutive addresses, MACs 02:… with the last word of the address, no gateway: all are on link. */
export const consecutiveHosts = (first4: string, first6: string, count: number, tags = 0): HostDirectory => {
  const bases = [parseAddress(first4), parseAddress(first6)] as const;
  const baseOf = (address: Int32Array, at: number) => bases[isMappedAddress(address, at) ? 0 : 1];
  return {
    indexOf(address, at) {
      const base = baseOf(address, at);
      for (let i = 0; i < 3; i++) if (address[at + i] !== base[i]) return -1;
      const index = ((address[at + 3] as number) - (base[3] as number)) | 0;
      return index >= 0 && index < count ? index : -1;
    },
    sourceFor(index, like, likeAt, to, toAt) {
      const base = baseOf(like, likeAt);
      copyAddress(base, 0, to, toAt);
      to[toAt + 3] = (base[3] as number) + index;
    },
    writeMac(index, bytes, at) {
      const last = (bases[0][3] as number) + index;
      bytes[at] = 2;
      bytes[at + 1] = 0;
      for (let i = 0; i < 4; i++) bytes[at + 2 + i] = last >>> (24 - i * 8);
    },
    tagsOf: () => tags,
    nextHop: createRouter({
      onLink: [
        { address: bases[0], bits: 96 + 8 },
        { address: bases[1], bits: 16 },
      ],
    }),
  };
};

/** Local and remote address with ports. */
export const flowKey = (local: string, remote: string, localPort = 0, remotePort = 0): Int32Array => {
  const key = new Int32Array(9);
  copyAddress(parseAddress(local), 0, key, 0);
  copyAddress(parseAddress(remote), 0, key, 4);
  key[8] = (localPort << 16) | remotePort;
  return key;
};

/** Two sides joined by frames without loss; every frame can be kept for a look from outside. */
export class FrameLab {
  nowUs = 1_000_000;
  readonly frames: Uint8Array[] = [];
  keepsFrames = false;
  /** TCP packets larger than the link allows that were cut. */
  bursts = 0;
  readonly #queues: [Uint8Array[], Uint8Array[]] = [[], []];
  readonly random = createRandom(3);
  readonly groups: HostGroup[] = [];
  /** Groups that take frames of the two sides. */
  readonly ends: [HostGroup | undefined, HostGroup | undefined] = [undefined, undefined];

  /** `cuts`: it takes large TCP packets. */
  sink(side: 0 | 1, mtu = 1500, cuts = false): FrameSink {
    const memory = createMemory(4096);
    return {
      ...(cuts && { burst: this.#burst(side) }),
      memory,
      mtu,
      begin: (length) => (length > 4000 ? -1 : 16),
      commit: (offset, length) => {
        this.#put(side, copyOf(memory.bytes, offset, offset + length));
      },
    };
  }

  #put(side: 0 | 1, frame: Uint8Array): void {
    if (this.keepsFrames) this.frames.push(frame);
    this.#queues[side].push(frame);
  }

  #burst(side: 0 | 1): BurstSink {
    const memory = createMemory(70_000);
    return {
      memory,
      begin: () => 16,
      commit: (offset, length, cut) => {
        this.bursts++;
        const inFrame = { ...cut, tcpAt: cut.tcpAt - offset, dataAt: cut.dataAt - offset };
        for (const frame of cutFrame(copyOf(memory.bytes, offset, offset + length), inFrame)) this.#put(side, frame);
      },
    };
  }

  /** A group on one side of the wire. */
  group(
    side: 0 | 1,
    options: Partial<HostGroupOptions> & { hosts: HostDirectory; mtu?: number; cuts?: boolean },
  ): HostGroup {
    const group = new HostGroup({
      sink: this.sink(side, options.mtu, options.cuts),
      nowUs: this.nowUs,
      random: this.random,
      ...options,
    });
    this.groups.push(group);
    if (options.sink === undefined) this.ends[side] = group;
    return group;
  }

  run(maxUs: number, isDone: () => boolean = () => false): boolean {
    const end = this.nowUs + maxUs;
    while (this.nowUs < end) {
      for (const group of this.groups) group.flush();
      if (isDone()) return true;
      this.nowUs += 200;
      for (const group of this.groups) group.advance(this.nowUs);
      for (const side of [0, 1] as const) {
        const frames = this.#queues[side].splice(0);
        for (const frame of frames) this.ends[side === 0 ? 1 : 0]?.receive(new Memory(frame), 0, frame.length);
      }
    }
    return isDone();
  }
}

/** A capture file of Ethernet frames (pcap, microseconds). */
export const pcapOf = (frames: readonly Uint8Array[]): Uint8Array => {
  const total = frames.reduce((sum, { length }) => sum + 16 + length, 24);
  const { bytes, view } = createMemory(total);
  view.setUint32(0, 0xa1b2c3d4);
  view.setUint32(4, 0x00020004);
  view.setUint32(16, 65_535);
  view.setUint32(20, 1);
  let at = 24;
  for (const [index, frame] of frames.entries()) {
    view.setUint32(at, 1_700_000_000 + Math.floor(index / 1000));
    view.setUint32(at + 4, (index % 1000) * 1000);
    view.setUint32(at + 8, frame.length);
    view.setUint32(at + 12, frame.length);
    bytes.set(frame, at + 16);
    at += 16 + frame.length;
  }
  return bytes;
};
