import { copyMac, macBytes } from '../ethernet/ethernet.ts';

/** VLANs of the subscribers: one or two tags for each of them, or the same for all. */
export interface VlanPlan {
  readonly mode: '1:1' | 'n:1' | 'untagged';
  readonly outerStart: number;
  readonly outerEnd: number;
  /** 0: no inner tag. */
  readonly innerStart: number;
  readonly innerEnd: number;
  /** EtherType of the outer tag. */
  readonly outerTpid: number;
  readonly priority: number;
}

export const untagged: VlanPlan = {
  mode: 'untagged',
  outerStart: 0,
  outerEnd: 0,
  innerStart: 0,
  innerEnd: 0,
  outerTpid: 0x8100,
  priority: 0,
};

/** How many subscribers a plan tells apart by VLAN; 0: any number shares one VLAN. */
export const lineCapacity = (plan: VlanPlan): number => {
  if (plan.mode !== '1:1') return 0;
  const outer = plan.outerStart === 0 ? 1 : plan.outerEnd - plan.outerStart + 1;
  const inner = plan.innerStart === 0 ? 1 : plan.innerEnd - plan.innerStart + 1;
  return Math.max(outer, 0) * Math.max(inner, 0);
};

/** The MAC addresses and VLAN tags by which frames of sessions are addressed. */
export interface LineDirectory {
  writeMac(index: number, bytes: Uint8Array, at: number): void;
  /** Tags as of `vlanTags`. */
  tagsOf(index: number): number;
}

/** A MAC address as a number. */
export const readMac = (bytes: Uint8Array, at: number): number => {
  let value = 0;
  for (let i = 0; i < macBytes; i++) value = value * 256 + (bytes[at + i] as number);
  return value;
};

export const writeMacNumber = (value: number, bytes: Uint8Array, at: number): void => {
  let rest = value;
  for (let i = macBytes - 1; i >= 0; i--) {
    bytes[at + i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
};

export interface LinesOptions {
  readonly count: number;
  readonly firstMac: Uint8Array;
  readonly macStep: number;
  readonly vlan: VlanPlan;
}

/** The subscribers of a port by arithmetic: MAC and VLAN of subscriber i, and back. Nothing is stored for each. */
export class Lines implements LineDirectory {
  readonly count: number;
  readonly #firstMac: number;
  readonly #macStep: number;
  readonly #vlan: VlanPlan;
  readonly #innerCount: number;

  constructor({ count, firstMac, macStep, vlan }: LinesOptions) {
    this.count = count;
    this.#firstMac = readMac(firstMac, 0);
    this.#macStep = macStep;
    this.#vlan = vlan;
    this.#innerCount = vlan.innerStart === 0 ? 1 : vlan.innerEnd - vlan.innerStart + 1;
  }

  writeMac(index: number, bytes: Uint8Array, at: number): void {
    writeMacNumber((this.#firstMac + index * this.#macStep) % 2 ** 48, bytes, at);
  }

  tagsOf(index: number): number {
    const { mode, outerStart, innerStart, priority } = this.#vlan;
    if (mode === 'untagged') return 0;
    const line = mode === 'n:1' ? 0 : index;
    const inner = innerStart === 0 ? 0 : innerStart + (line % this.#innerCount);
    const outer = outerStart === 0 ? 0 : outerStart + Math.floor(line / this.#innerCount);
    const bits = priority << 13;
    if (outer === 0) return inner === 0 ? 0 : bits | inner;
    return inner === 0 ? bits | outer : ((bits | outer) << 16) | bits | inner;
  }

  /** The subscriber with the MAC at `at`, or -1. */
  indexOf(bytes: Uint8Array, at: number): number {
    const index = (readMac(bytes, at) - this.#firstMac) / this.#macStep;
    return Number.isInteger(index) && index >= 0 && index < this.count ? index : -1;
  }
}

/** Peers that have been heard: MAC and tags of each slot. */
export class PeerLines implements LineDirectory {
  readonly #macs: Uint8Array;
  readonly #tags: Int32Array;

  constructor(capacity: number) {
    this.#macs = new Uint8Array(capacity * macBytes);
    this.#tags = new Int32Array(capacity);
  }

  set(index: number, bytes: Uint8Array, at: number, tags: number): void {
    copyMac(bytes, at, this.#macs, index * macBytes);
    this.#tags[index] = tags;
  }

  writeMac(index: number, bytes: Uint8Array, at: number): void {
    copyMac(this.#macs, index * macBytes, bytes, at);
  }

  tagsOf(index: number): number {
    return this.#tags[index] as number;
  }
}
