import { isIPv6 } from 'node:net';
import { addressToNumber } from '../addresses/address-range.ts';
import { assemble, type FilterProgram, type FilterStep, op } from './packet-filter.ts';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export interface CaptureFilterOptions {
  readonly savelen: number;
  readonly captureArp: boolean;
  /** TCP traffic with these endpoints is excluded; at most eight per IP version. */
  readonly excluded: readonly Endpoint[];
}

// Offsets relative to fixed headers, independent of link type and VLAN tags.
const protocolAt = 0xffff_f000;
const networkAt = 0xfff0_0000;
const type = { arp: 0x0806, ipv4: 0x0800, ipv6: 0x86dd } as const;
const tcp = 6;
const fragmentOffset = 0x1fff;
/** Limited by the reach of jumps in a classic BPF program. */
const maxEndpoints = 8;

const wordsOf = (address: string): number[] => {
  const value = addressToNumber(address);
  const shifts = isIPv6(address) ? [96n, 64n, 32n, 0n] : [0n];
  return shifts.map((shift) => Number((value >> shift) & 0xffff_ffffn));
};

/** Rejects packets with the address at `at` and the port at `portAt` (after X); others continue at `next`. */
const endSteps = (
  { address, port }: Endpoint,
  { at, portAt, label, next }: { at: number; portAt: number; label: string; next: string },
): FilterStep[] => [
  ...wordsOf(address).flatMap((word, index): FilterStep[] => [
    { code: op.loadWord, k: networkAt + at + index * 4, ...(index === 0 && { label }) },
    { code: op.jumpIfEqual, k: word, otherwise: next },
  ]),
  { code: op.loadHalfAtX, k: networkAt + portAt },
  { code: op.jumpIfEqual, k: port, whenTrue: 'reject', otherwise: next },
];

/** Sets X to the length of the IP header. */
const headerSteps = (isSix: boolean): FilterStep[] =>
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

/** All steps for one IP version; `label` is that of the first. */
const versionSteps = (endpoints: readonly Endpoint[], isSix: boolean, label: string): FilterStep[] => {
  const [source, destination] = isSix ? ([8, 24] as const) : ([12, 16] as const);
  const [head, ...rest] = headerSteps(isSix) as [FilterStep, ...FilterStep[]];
  const ends = endpoints.slice(0, maxEndpoints).flatMap((endpoint) => [
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

const exclusionSteps = (endpoints: readonly Endpoint[]): FilterStep[] => {
  const six = endpoints.filter(({ address }) => isIPv6(address));
  const four = endpoints.filter(({ address }) => !isIPv6(address));
  return [
    { code: op.jumpIfEqual, k: type.ipv4, whenTrue: 'four' },
    { code: op.jumpIfEqual, k: type.ipv6, whenTrue: 'six', otherwise: 'accept' },
    ...versionSteps(four, false, 'four'),
    ...versionSteps(six, true, 'six'),
  ];
};

/** Accepts the first `savelen` bytes of every wanted packet. */
export const captureProgram = ({ savelen, captureArp, excluded }: CaptureFilterOptions): FilterProgram =>
  assemble([
    { code: op.loadHalf, k: protocolAt },
    ...(captureArp ? [] : [{ code: op.jumpIfEqual, k: type.arp, whenTrue: 'reject' }]),
    ...(excluded.length === 0 ? [] : exclusionSteps(excluded)),
    { code: op.result, k: savelen, label: 'accept' },
    { code: op.result, k: 0, label: 'reject' },
  ]);
