import { flowMix } from '@rushhour/wire';
import { assemble, type FilterProgram, type FilterStep, op, verdicts } from '../../net/packet/packet-filter.ts';
import type { AddressBlock } from './redirect-program.ts';
import type { StackShare } from './stack-share.ts';

const etherType = { ipv4: 0x0800, ipv6: 0x86dd, vlan: [0x8100, 0x88a8, 0x9100] } as const;
const protocol = { tcp: 6, udp: 17, icmp6: 58 } as const;
const fragmentBits = 0x3fff;
/** The kernel has removed the outermost of them. */
const maxTags = 2;

const isV4 = ({ first }: AddressBlock): boolean => first[0] === 0 && first[1] === 0 && first[2] === 0xffff;

/** Accepts addresses between the first and the last of the blocks, by their last word at `at`. */
const betweenSteps = (blocks: readonly AddressBlock[], at: number): FilterStep[] => {
  const lows = blocks.map(({ first }) => (first[3] as number) >>> 0);
  if (lows.length === 0) return [{ code: op.result, k: 0 }];
  const highs = blocks.map(({ count }, index) => (lows[index] as number) + count - 1);
  return [
    { code: op.loadWord, k: at },
    { code: op.jumpIfAtLeast, k: Math.min(...lows), otherwise: 'reject' },
    { code: op.jumpIfAbove, k: Math.max(...highs), whenTrue: 'reject', otherwise: 'accept' },
  ];
};

type IpSteps = (ip: number, level: number) => { readonly four: FilterStep[]; readonly six: FilterStep[] };

/** By destination. Neighbour discovery goes to all. */
const byHosts =
  (blocks: readonly AddressBlock[]): IpSteps =>
  (ip) => ({
    four: betweenSteps(blocks.filter(isV4), ip + 16),
    six: [
      { code: op.loadByte, k: ip + 6 },
      { code: op.jumpIfEqual, k: protocol.icmp6, whenTrue: 'accept' },
      ...betweenSteps(
        blocks.filter((block) => !isV4(block)),
        ip + 36,
      ),
    ],
  });

/** The accumulator holds the port of the peer, `address` is where the last word of its address is. */
const flowSteps = (address: number, { index, count }: StackShare): FilterStep[] => [
  { code: op.multiply, k: flowMix.port },
  { code: op.toMemory, k: 0 },
  { code: op.loadWord, k: address },
  { code: op.multiply, k: flowMix.address },
  { code: op.memoryToX, k: 0 },
  { code: op.xorX, k: 0 },
  { code: op.multiply, k: flowMix.both },
  { code: op.shiftRight, k: flowMix.shift },
  { code: op.modulo, k: count },
  { code: op.jumpIfEqual, k: index, whenTrue: 'accept', otherwise: 'reject' },
];

/** By the source and its port. What has no ports to look at goes to all. */
const byFlows =
  (share: StackShare): IpSteps =>
  (ip, level) => ({
    four: [
      { code: op.loadHalf, k: ip + 6 },
      { code: op.jumpIfAnyBit, k: fragmentBits, whenTrue: 'accept' },
      { code: op.loadByte, k: ip + 9 },
      { code: op.jumpIfEqual, k: protocol.tcp, whenTrue: `ports${level}` },
      { code: op.jumpIfEqual, k: protocol.udp, otherwise: 'accept' },
      { code: op.headerLengthToX, k: ip, label: `ports${level}` },
      { code: op.loadHalfAtX, k: ip },
      ...flowSteps(ip + 12, share),
    ],
    six: [
      { code: op.loadByte, k: ip + 6 },
      { code: op.jumpIfEqual, k: protocol.tcp, whenTrue: `portsSix${level}` },
      { code: op.jumpIfEqual, k: protocol.udp, otherwise: 'accept' },
      { code: op.loadHalf, k: ip + 40, label: `portsSix${level}` },
      ...flowSteps(ip + 20, share),
    ],
  });

const levelSteps = (level: number, ipSteps: IpSteps): FilterStep[] => {
  const ip = 14 + level * 4;
  const { four, six } = ipSteps(ip, level);
  const next = level === maxTags ? 'reject' : `level${level + 1}`;
  const [first, second, third] = etherType.vlan;
  const labelled = ([step, ...rest]: FilterStep[], label: string): FilterStep[] => [
    { ...(step as FilterStep), label },
    ...rest,
  ];
  return [
    { code: op.loadHalf, k: ip - 2, label: `level${level}` },
    { code: op.jumpIfEqual, k: etherType.ipv4, whenTrue: `four${level}` },
    { code: op.jumpIfEqual, k: etherType.ipv6, whenTrue: `six${level}` },
    { code: op.jumpIfEqual, k: first, whenTrue: next },
    { code: op.jumpIfEqual, k: second, whenTrue: next },
    { code: op.jumpIfEqual, k: third, whenTrue: next, otherwise: 'accept' },
    ...labelled(four, `four${level}`),
    ...labelled(six, `six${level}`),
  ];
};

/**
 * Accepts the frames of one worker, and what all workers have to see: ARP, neighbour discovery, fragments. The hosts
 * themselves decide again; this keeps frames of other workers away from them.
 */
export const shareProgram = (share: StackShare, blocks: readonly AddressBlock[]): FilterProgram => {
  const steps = share.by === 'hosts' ? byHosts(blocks) : byFlows(share);
  return assemble([...Array.from({ length: maxTags + 1 }, (_, level) => levelSteps(level, steps)).flat(), ...verdicts]);
};
