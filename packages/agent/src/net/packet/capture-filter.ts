import { isIPv6 } from 'node:net';
import { addressToNumber } from '../addresses/address-range.ts';
import { assemble, type FilterProgram, op, type Step } from './packet-filter.ts';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export interface CaptureWish {
  readonly savelen: number;
  readonly captureArp: boolean;
  /** What is said with these over TCP is left out; eight of each version of IP at most. */
  readonly without: readonly Endpoint[];
}

// Places that hold whatever the link looks like and however many tags there are.
const protocolAt = 0xffff_f000;
const networkAt = 0xfff0_0000;
const type = { arp: 0x0806, ipv4: 0x0800, ipv6: 0x86dd } as const;
const tcp = 6;
const fragmentOffset = 0x1fff;
/** Jumps of a filter reach no farther. */
const mostEndpoints = 8;

/** The 32-bit words of an address. */
const wordsOf = (address: string): number[] => {
  const value = addressToNumber(address);
  const shifts = isIPv6(address) ? [96n, 64n, 32n, 0n] : [0n];
  return shifts.map((shift) => Number((value >> shift) & 0xffff_ffffn));
};

/** Refuses packets that have the address at `at` and the port at `portAt` (after X); others go on to `next`. */
const endSteps = (
  { address, port }: Endpoint,
  { at, portAt, label, next }: { at: number; portAt: number; label: string; next: string },
): Step[] => [
  ...wordsOf(address).flatMap((word, index): Step[] => [
    { code: op.loadWord, k: networkAt + at + index * 4, ...(index === 0 && { label }) },
    { code: op.jumpIfEqual, k: word, otherwise: next },
  ]),
  { code: op.loadHalfAtX, k: networkAt + portAt },
  { code: op.jumpIfEqual, k: port, whenTrue: 'refuse', otherwise: next },
];

/** X becomes the length of the IP header. */
const headerSteps = (isSix: boolean): Step[] =>
  isSix
    ? [
        { code: op.loadByte, k: networkAt + 6 },
        { code: op.jumpIfEqual, k: tcp, otherwise: 'accept' },
        { code: op.loadConstant, k: 40 },
        { code: op.toX, k: 0 },
      ]
    : [
        { code: op.loadByte, k: networkAt + 9 },
        { code: op.jumpIfEqual, k: tcp, otherwise: 'accept' },
        { code: op.loadHalf, k: networkAt + 6 },
        { code: op.jumpIfAnyBit, k: fragmentOffset, whenTrue: 'accept' },
        { code: op.loadByte, k: networkAt },
        { code: op.and, k: 0xf },
        { code: op.shiftLeft, k: 2 },
        { code: op.toX, k: 0 },
      ];

/** All steps for packets of one version; `label` is that of the first. */
const versionSteps = (endpoints: readonly Endpoint[], isSix: boolean, label: string): Step[] => {
  const [source, destination] = isSix ? ([8, 24] as const) : ([12, 16] as const);
  const [head, ...rest] = headerSteps(isSix) as [Step, ...Step[]];
  const ends = endpoints.slice(0, mostEndpoints).flatMap((endpoint) => [
    { endpoint, at: source, portAt: 0 },
    { endpoint, at: destination, portAt: 2 },
  ]);
  const nameOf = (index: number) => (index < ends.length ? `${label}${index}` : 'accept');
  if (ends.length === 0) return [{ code: op.jumpIfAtLeast, k: 0, label, whenTrue: 'accept' }];
  return [
    { ...head, label },
    ...rest,
    ...ends.flatMap(({ endpoint, at, portAt }, index) =>
      endSteps(endpoint, { at, portAt, label: nameOf(index), next: nameOf(index + 1) }),
    ),
  ];
};

const withoutSteps = (endpoints: readonly Endpoint[]): Step[] => {
  const six = endpoints.filter(({ address }) => isIPv6(address));
  const four = endpoints.filter(({ address }) => !isIPv6(address));
  return [
    { code: op.jumpIfEqual, k: type.ipv4, whenTrue: 'four' },
    { code: op.jumpIfEqual, k: type.ipv6, whenTrue: 'six', otherwise: 'accept' },
    ...versionSteps(four, false, 'four'),
    ...versionSteps(six, true, 'six'),
  ];
};

/** Lets the beginning of every packet through that is wanted. */
export const captureProgram = ({ savelen, captureArp, without }: CaptureWish): FilterProgram =>
  assemble([
    { code: op.loadHalf, k: protocolAt },
    ...(captureArp ? [] : [{ code: op.jumpIfEqual, k: type.arp, whenTrue: 'refuse' }]),
    ...(without.length === 0 ? [] : withoutSteps(without)),
    { code: op.result, k: savelen, label: 'accept' },
    { code: op.result, k: 0, label: 'refuse' },
  ]);
