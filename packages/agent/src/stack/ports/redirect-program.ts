import { BpfProgram, kernelFunction } from '../../net/xdp/bpf-program.ts';

/** Consecutive addresses that differ in their last word only. */
export interface AddressBlock {
  readonly first: Int32Array;
  readonly count: number;
}

export const maxBlocks = 100;

const pass = 2;
const etherType = { ipv4: 0x0800, ipv6: 0x86dd } as const;
const at = { type: 12, destination4: 30, protocol6: 20, destination6: 38, icmpType6: 54 } as const;
const icmp6 = 58;
/** Router and neighbour messages: the kernel needs them as well. */
const neighbourTypes = { first: 133, last: 137 } as const;
const context = { data: 0, dataEnd: 4, queue: 16 } as const;
const isV4 = ({ first }: AddressBlock): boolean => first[0] === 0 && first[1] === 0 && first[2] === 0xffff;

/**
 * An XDP program that redirects IP packets to the given addresses into the sockets of a map. Everything else, ARP and
 * neighbour discovery included, goes on to the kernel.
 */
export const redirectProgram = (blocks: readonly AddressBlock[], socketMap: number): Buffer => {
  const program = new BpfProgram();
  readType(program);
  for (const [index, block] of blocks.filter(isV4).entries()) matchLast(program, block, `four${index}`);
  program
    .jump('pass')
    .label('six')
    .set(2, { register: 7 })
    .math('add', 2, 58)
    .jumpIf(2, 'above', { register: 8 }, 'pass')
    .load(1, 3, 7, at.protocol6)
    .jumpIf(3, 'notEqual', icmp6, 'addresses')
    .load(1, 3, 7, at.icmpType6)
    .jumpIf(3, 'below', neighbourTypes.first, 'addresses')
    .jumpIf(3, 'above', neighbourTypes.last, 'addresses')
    .jump('pass')
    .label('addresses')
    .load(4, 1, 7, at.destination6 + 12)
    .bigEndian(1, 32);
  for (const [index, block] of blocks.filter((one) => !isV4(one)).entries()) matchSix(program, block, `six${index}`);
  return program
    .label('pass')
    .answer(pass)
    .label('ours')
    .setMap(1, socketMap)
    .load(4, 2, 6, context.queue)
    .set(3, pass)
    .call(kernelFunction.redirectByMap)
    .exit()
    .assemble();
};

/** Leaves unless there is an IP packet; register 1 holds the last word of an IPv4 address, 7 where the frame is. */
const readType = (program: BpfProgram): void => {
  program
    .set(6, { register: 1 })
    .load(4, 7, 1, context.data)
    .load(4, 8, 1, context.dataEnd)
    .set(2, { register: 7 })
    .math('add', 2, 34)
    .jumpIf(2, 'above', { register: 8 }, 'pass')
    .load(2, 3, 7, at.type)
    .bigEndian(3, 16)
    .jumpIf(3, 'equal', etherType.ipv6, 'six')
    .jumpIf(3, 'notEqual', etherType.ipv4, 'pass')
    .load(4, 1, 7, at.destination4)
    .bigEndian(1, 32);
};

/** Register 1 holds the last word of the address. */
const matchLast = (program: BpfProgram, { first, count }: AddressBlock, name: string): void => {
  const low = (first[3] as number) >>> 0;
  program
    .setWide(2, low)
    .jumpIf(1, 'below', { register: 2 }, `after ${name}`)
    .setWide(2, low + count - 1)
    .jumpIf(1, 'above', { register: 2 }, `after ${name}`)
    .jump('ours')
    .label(`after ${name}`);
};

const matchSix = (program: BpfProgram, block: AddressBlock, name: string): void => {
  for (let word = 0; word < 3; word++) {
    program
      .load(4, 3, 7, at.destination6 + word * 4)
      .bigEndian(3, 32)
      .setWide(2, (block.first[word] as number) >>> 0)
      .jumpIf(3, 'notEqual', { register: 2 }, `after ${name}`);
  }
  matchLast(program, block, name);
};
