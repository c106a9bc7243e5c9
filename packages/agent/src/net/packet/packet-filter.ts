/** An instruction of classic BPF. */
interface Instruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}
export type FilterProgram = readonly Instruction[];

/** The instructions used here. */
export const op = {
  loadHalf: 0x28,
  loadByte: 0x30,
  loadWord: 0x20,
  loadWordAtX: 0x40,
  loadHalfAtX: 0x48,
  loadByteAtX: 0x50,
  loadLength: 0x80,
  loadConstant: 0x00,
  jumpIfEqual: 0x15,
  jumpIfAbove: 0x25,
  jumpIfAtLeast: 0x35,
  jumpIfAnyBit: 0x45,
  subtract: 0x14,
  and: 0x54,
  multiply: 0x24,
  modulo: 0x94,
  shiftLeft: 0x64,
  shiftRight: 0x74,
  xorX: 0xac,
  toX: 0x07,
  toMemory: 0x02,
  memoryToX: 0x61,
  /** Four times the lower half of a byte: the length of an IPv4 header. */
  headerLengthToX: 0xb1,
  result: 0x06,
} as const;
const everything = 0x4_0000;
const maxJump = 255;

/** An instruction whose jumps name labels; without a label the next step follows. */
export interface FilterStep {
  readonly code: number;
  readonly k: number;
  readonly label?: string;
  readonly whenTrue?: string;
  readonly otherwise?: string;
}

export const assemble = (steps: readonly FilterStep[]): FilterProgram => {
  const offsets = new Map(steps.flatMap(({ label }, index) => (label === undefined ? [] : [[label, index] as const])));
  const jump = (from: number, label: string | undefined): number => {
    if (label === undefined) return 0;
    const distance = (offsets.get(label) ?? Number.NaN) - from - 1;
    if (!(distance >= 0 && distance <= maxJump)) throw new RangeError(`a filter cannot jump to ${label}`);
    return distance;
  };
  return steps.map(({ code, k, whenTrue, otherwise }, index) => ({
    code,
    k,
    jt: jump(index, whenTrue),
    jf: jump(index, otherwise),
  }));
};

export const verdicts: readonly FilterStep[] = [
  { code: op.result, k: 0, label: 'reject' },
  { code: op.result, k: everything, label: 'accept' },
];

/** Rejects everything: packets that arrive are neither kept nor answered. */
export const rejectAllProgram: FilterProgram = assemble([{ code: op.result, k: 0 }]);

const etherType = { arp: 0x0806, ipv4: 0x0800, ipv6: 0x86dd, vlan: [0x8100, 0x88a8, 0x9100] } as const;
const icmp6 = 58;
const neighbourTypes = [135, 136] as const;
const fragmentHeader = 44;
/** More fragments, or an offset. */
const fragmentBits = 0x3fff;
const maxTags = 4;

const fragmentSteps = (level: number): FilterStep[] => {
  const typeAt = 12 + level * 4;
  const next = level === maxTags ? 'reject' : `level${level + 1}`;
  const [first, second, third] = etherType.vlan;
  return [
    { code: op.loadHalf, k: typeAt, label: `level${level}` },
    { code: op.jumpIfEqual, k: etherType.ipv4, whenTrue: `four${level}` },
    { code: op.jumpIfEqual, k: etherType.ipv6, whenTrue: `six${level}` },
    { code: op.jumpIfEqual, k: first, whenTrue: next },
    { code: op.jumpIfEqual, k: second, whenTrue: next },
    { code: op.jumpIfEqual, k: third, whenTrue: next, otherwise: 'reject' },
    { code: op.loadHalf, k: typeAt + 8, label: `four${level}` },
    { code: op.jumpIfAnyBit, k: fragmentBits, whenTrue: 'accept', otherwise: 'reject' },
    { code: op.loadByte, k: typeAt + 8, label: `six${level}` },
    { code: op.jumpIfEqual, k: fragmentHeader, whenTrue: 'accept', otherwise: 'reject' },
  ];
};

const levelSteps = (level: number): FilterStep[] => {
  const typeAt = 12 + level * 4;
  const next = level === maxTags ? 'reject' : `level${level + 1}`;
  const [first, second, third] = etherType.vlan;
  return [
    { code: op.loadHalf, k: typeAt, label: `level${level}` },
    { code: op.jumpIfEqual, k: etherType.arp, whenTrue: 'accept' },
    { code: op.jumpIfEqual, k: etherType.ipv6, whenTrue: `six${level}` },
    { code: op.jumpIfEqual, k: first, whenTrue: next },
    { code: op.jumpIfEqual, k: second, whenTrue: next },
    { code: op.jumpIfEqual, k: third, whenTrue: next, otherwise: 'reject' },
    { code: op.loadByte, k: typeAt + 8, label: `six${level}` },
    { code: op.jumpIfEqual, k: icmp6, otherwise: 'reject' },
    { code: op.loadByte, k: typeAt + 42 },
    { code: op.jumpIfEqual, k: neighbourTypes[0], whenTrue: 'accept' },
    { code: op.jumpIfEqual, k: neighbourTypes[1], whenTrue: 'accept', otherwise: 'reject' },
  ];
};

/** Accepts ARP and neighbour discovery, also in VLANs. */
export const neighbourProgram: FilterProgram = assemble([
  ...Array.from({ length: maxTags + 1 }, (_, level) => levelSteps(level)).flat(),
  ...verdicts,
]);

/** Accepts frames with this value at `trailerBytes` before their end; with `takesFragments`, all fragments of IP as well. */
export const trailerProgram = (
  trailerBytes: number,
  { value, mask }: { readonly value: number; readonly mask: number },
  takesFragments = false,
): FilterProgram =>
  assemble([
    { code: op.loadLength, k: 0 },
    { code: op.jumpIfAtLeast, k: trailerBytes + 14, otherwise: takesFragments ? 'level0' : 'reject' },
    { code: op.subtract, k: trailerBytes },
    { code: op.toX, k: 0 },
    { code: op.loadWordAtX, k: 0 },
    { code: op.and, k: mask },
    { code: op.jumpIfEqual, k: value, whenTrue: 'accept', otherwise: takesFragments ? 'level0' : 'reject' },
    ...(takesFragments ? Array.from({ length: maxTags + 1 }, (_, level) => fragmentSteps(level)).flat() : []),
    ...verdicts,
  ]);
