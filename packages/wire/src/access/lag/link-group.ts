import { createMemory, type Memory } from '../../bytes/memory.ts';
import { ethernetBytes, isSameMac } from '../../ethernet/ethernet.ts';
import type { FrameSink } from '../../host-group/hosts.ts';
import { FrameWriter } from '../frames.ts';
import { LacpMember, type LacpOptions } from './lacp-member.ts';
import {
  isSameSystem,
  type LacpMessage,
  lacpBytes,
  readLacp,
  slowProtocolMac,
  slowProtocolType,
  writeLacp,
} from './lacp-message.ts';
import { LinkChoice, type LinkHash } from './link-choice.ts';

const maxFrame = 70_000;

export interface LinkGroupOptions {
  readonly lacp: LacpOptions;
  readonly minActiveLinks: number;
  readonly maxActiveLinks: number;
  readonly hash: LinkHash;
}

export interface LinkGroupMember {
  readonly sink: FrameSink;
  readonly mac: Uint8Array;
}

/** Several links that carry the frames of one port (IEEE 802.1AX): frames go out through those that distribute. */
export class LinkGroup implements FrameSink {
  readonly memory: Memory = createMemory(maxFrame);
  readonly members: readonly LacpMember[];
  readonly mtu: number;
  readonly counters: { framesLost: number; changes: number } = { framesLost: 0, changes: 0 };
  /** Called when the group comes up or goes down. */
  onLink: (isUp: boolean) => void = () => {};
  readonly #options: LinkGroupOptions;
  readonly #links: readonly LinkGroupMember[];
  readonly #choice: LinkChoice;
  #active: readonly number[] = [];
  #isUp = false;

  constructor(links: readonly LinkGroupMember[], options: LinkGroupOptions) {
    this.#links = links;
    this.#options = options;
    this.#choice = new LinkChoice(options.hash);
    this.mtu = Math.min(...links.map(({ sink }) => sink.mtu));
    this.members = links.map(({ sink, mac }, index) => {
      const frames = new FrameWriter(sink);
      const send = (message: LacpMessage) => sendLacp(frames, index, mac, message);
      return new LacpMember(options.lacp, index + 1, send);
    });
  }

  /** Members that frames are sent through. */
  get active(): readonly number[] {
    return this.#active;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  begin(length: number, _path: number): number {
    return length > maxFrame ? -1 : 0;
  }

  commit(offset: number, length: number): void {
    const { bytes } = this.memory;
    const chosen = this.#choice.linkOf(this.memory, offset, offset + length, this.#active.length);
    const sink = this.#isUp ? this.#links[this.#active[chosen] ?? -1]?.sink : undefined;
    const at = sink?.begin(length, chosen) ?? -1;
    if (sink === undefined || at < 0) {
      this.counters.framesLost++;
      return;
    }
    sink.memory.bytes.set(bytes.subarray(offset, offset + length), at);
    sink.commit(at, length);
  }

  /** Takes a frame of a member; returns true if it is for those above the group. */
  receive(index: number, memory: Memory, start: number, end: number): boolean {
    const member = this.members[index] as LacpMember;
    if (!member.isLinkUp || end - start < ethernetBytes) return false;
    const isSlow = memory.view.getUint16(start + 12) === slowProtocolType;
    if (!isSlow) return member.isCollecting;
    if (!isSameMac(memory.bytes, start, slowProtocolMac, 0)) return false;
    const message = readLacp(memory, start + ethernetBytes, end);
    if (message === undefined) member.counters.invalid++;
    else member.receive(message);
    return false;
  }

  setLink(index: number, isUp: boolean): void {
    this.members[index]?.setLink(isUp);
  }

  /** Milliseconds since the start. */
  advance(nowMs: number): void {
    this.#select();
    for (const member of this.members) member.advance(nowMs);
    const active = this.members.flatMap(({ mux }, index) => (mux === 'distributing' ? [index] : []));
    if (active.length === this.#active.length && active.every((index, i) => index === this.#active[i])) return;
    this.counters.changes++;
    this.#active = active;
    const isUp = active.length >= this.#options.minActiveLinks;
    if (isUp === this.#isUp) return;
    this.#isUp = isUp;
    this.onLink(isUp);
  }

  /** Links to one partner and key may join, as many as are allowed; members that have joined stay. */
  #select(): void {
    const chosen = this.members.find((one) => one.isSelected) ?? this.members.find((one) => one.isAgreeable);
    const isAlike = ({ partner, isAgreeable }: LacpMember) =>
      isAgreeable &&
      chosen !== undefined &&
      isSameSystem(partner, chosen.partner) &&
      partner.key === chosen.partner.key;
    for (const member of this.members) if (!isAlike(member)) member.isSelected = false;
    let count = this.members.filter((one) => one.isSelected).length;
    for (const member of this.members) {
      if (count >= this.#options.maxActiveLinks || member.isSelected || !isAlike(member)) continue;
      member.isSelected = true;
      count++;
    }
  }
}

const sendLacp = (frames: FrameWriter, index: number, mac: Uint8Array, message: LacpMessage): boolean => {
  const at = frames.begin(index, lacpBytes);
  if (at < 0) return false;
  const route = { path: index, tags: 0, sourceMac: mac, destinationMac: slowProtocolMac };
  frames.send(at, writeLacp(frames.memory, at, message), slowProtocolType, route);
  return true;
};
