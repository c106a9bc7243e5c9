/** One instruction of the classic packet filter. */
interface Instruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}
export type FilterProgram = readonly Instruction[];

/** The instructions that our programs are made of. */
export const op = {
  loadHalf: 0x28,
  loadByte: 0x30,
  loadWord: 0x20,
  loadWordAtX: 0x40,
  loadHalfAtX: 0x48,
  loadLength: 0x80,
  loadConstant: 0x00,
  jumpIfEqual: 0x15,
  jumpIfAtLeast: 0x35,
  jumpIfAnyBit: 0x45,
  subtract: 0x14,
  and: 0x54,
  shiftLeft: 0x64,
  toX: 0x07,
  result: 0x06,
} as const;
const everything = 0x4_0000;
const farthestJump = 255;

/** A step of a program whose jumps name the steps they lead to; without a name the next step follows. */
export interface Step {
  readonly code: number;
  readonly k: number;
  readonly label?: string;
  readonly whenTrue?: string;
  readonly otherwise?: string;
}

export const assemble = (steps: readonly Step[]): FilterProgram => {
  const places = new Map(steps.flatMap(({ label }, index) => (label === undefined ? [] : [[label, index] as const])));
  const jump = (from: number, label: string | undefined): number => {
    if (label === undefined) return 0;
    const distance = (places.get(label) ?? Number.NaN) - from - 1;
    if (!(distance >= 0 && distance <= farthestJump)) throw new RangeError(`a filter cannot jump to ${label}`);
    return distance;
  };
  return steps.map(({ code, k, whenTrue, otherwise }, index) => ({
    code,
    k,
    jt: jump(index, whenTrue),
    jf: jump(index, otherwise),
  }));
};

const ends: readonly Step[] = [
  { code: op.result, k: 0, label: 'refuse' },
  { code: op.result, k: everything, label: 'accept' },
];

/** Lets nothing through: a port is taken, and what arrives there is neither kept nor answered. */
export const nothingProgram: FilterProgram = assemble([{ code: op.result, k: 0 }]);

/** Lets frames through that have this number so many bytes before their end. */
export const trailerProgram = (trailerBytes: number, value: number, mask: number): FilterProgram =>
  assemble([
    { code: op.loadLength, k: 0 },
    { code: op.jumpIfAtLeast, k: trailerBytes + 14, otherwise: 'refuse' },
    { code: op.subtract, k: trailerBytes },
    { code: op.toX, k: 0 },
    { code: op.loadWordAtX, k: 0 },
    { code: op.and, k: mask },
    { code: op.jumpIfEqual, k: value, whenTrue: 'accept', otherwise: 'refuse' },
    ...ends,
  ]);

const etherType = { arp: 0x0806, ipv6: 0x86dd, vlan: [0x8100, 0x88a8, 0x9100] } as const;
const icmp6 = 58;
const neighbourTypes = [135, 136] as const;
const deepestTag = 4;

const levelSteps = (level: number): Step[] => {
  const typeAt = 12 + level * 4;
  const next = level === deepestTag ? 'refuse' : `level${level + 1}`;
  const [first, second, third] = etherType.vlan;
  return [
    { code: op.loadHalf, k: typeAt, label: `level${level}` },
    { code: op.jumpIfEqual, k: etherType.arp, whenTrue: 'accept' },
    { code: op.jumpIfEqual, k: etherType.ipv6, whenTrue: `six${level}` },
    { code: op.jumpIfEqual, k: first, whenTrue: next },
    { code: op.jumpIfEqual, k: second, whenTrue: next },
    { code: op.jumpIfEqual, k: third, whenTrue: next, otherwise: 'refuse' },
    { code: op.loadByte, k: typeAt + 8, label: `six${level}` },
    { code: op.jumpIfEqual, k: icmp6, otherwise: 'refuse' },
    { code: op.loadByte, k: typeAt + 42 },
    { code: op.jumpIfEqual, k: neighbourTypes[0], whenTrue: 'accept' },
    { code: op.jumpIfEqual, k: neighbourTypes[1], whenTrue: 'accept', otherwise: 'refuse' },
  ];
};

/** Lets ARP and neighbour discovery through, also behind VLAN tags. */
export const neighbourProgram: FilterProgram = assemble([
  ...Array.from({ length: deepestTag + 1 }, (_, level) => levelSteps(level)).flat(),
  ...ends,
]);
