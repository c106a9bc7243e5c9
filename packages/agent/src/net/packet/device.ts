import { errno, SystemError } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { scratch } from '../kernel/scratch.ts';
import { closeSocket, openSocket, socketType } from '../kernel/socket.ts';
import { family } from '../kernel/socket-address.ts';

const ioctl = process.arch === 'x64' ? 16 : 29;
const request = { flags: 0x8913, mtu: 0x8921, hardware: 0x8927, index: 0x8933, ethtool: 0x8946 } as const;
const nameBytes = 16;
const requestBytes = 40;
const ethtoolGetLink = 10;
const ethtoolAt = 64;
/** Ethernet and loopback. */
const ethernetKinds: ReadonlySet<number> = new Set([1, 772]);
const flag = { up: 1, running: 0x40 } as const;

/** A network interface as frames see it. */
export interface Device {
  readonly name: string;
  readonly index: number;
  readonly mac: Buffer;
  /** Whether frames have an Ethernet header; else they are bare IP packets. */
  readonly isEthernet: boolean;
  /** Bytes after the Ethernet header. */
  readonly mtu: number;
}

/** An interface that frames were to go by and that is not there. */
export class DeviceGone extends Error {
  readonly code = 'INTERFACE_GONE';
  constructor(name: string) {
    super(`there is no interface ${name} any more`);
  }
}

/** What the kernel says of an interface, 24 bytes; undefined when there is none of this name. */
const ask = (fd: number, which: number, name: string): Buffer | undefined => {
  const memory = scratch();
  memory.bytes.fill(0, 0, requestBytes);
  memory.bytes.write(name.slice(0, nameBytes - 1), 0, 'latin1');
  const libc = requireLibc();
  if (libc.syscall(ioctl, fd, which, memory.addressOf(0, requestBytes), 0, 0, 0) >= 0)
    return Buffer.from(memory.bytes.subarray(nameBytes, requestBytes));
  const error = libc.errno();
  if (error !== errno.ENODEV && error !== errno.ENXIO) throw new SystemError('ioctl', error);
  return undefined;
};

const asking = <T>(work: (fd: number) => T): T => {
  const fd = openSocket(family.inet, socketType.datagram);
  try {
    return work(fd);
  } finally {
    closeSocket(fd);
  }
};

export const findDevice = (name: string): Device | undefined =>
  asking((fd) => {
    const [index, hardware, mtu] = [request.index, request.hardware, request.mtu].map((which) => ask(fd, which, name));
    if (index === undefined || hardware === undefined || mtu === undefined) return undefined;
    // The first two bytes tell the kind of address.
    const isEthernet = ethernetKinds.has(hardware.readUInt16LE(0));
    return { name, index: index.readInt32LE(0), mac: hardware.subarray(2, 8), isEthernet, mtu: mtu.readInt32LE(0) };
  });

export const requireDevice = (name: string): Device => {
  const device = findDevice(name);
  if (device === undefined) throw new DeviceGone(name);
  return device;
};

/** What the driver says of the link, which is true at once; undefined where it says nothing. */
const carrierOf = (fd: number, name: string): boolean | undefined => {
  const memory = scratch();
  memory.bytes.fill(0, 0, ethtoolAt + 8);
  memory.bytes.write(name.slice(0, nameBytes - 1), 0, 'latin1');
  memory.bytes.writeBigUInt64LE(BigInt(memory.addressOf(ethtoolAt, 8)), nameBytes);
  memory.bytes.writeUInt32LE(ethtoolGetLink, ethtoolAt);
  const result = requireLibc().syscall(ioctl, fd, request.ethtool, memory.addressOf(0, requestBytes), 0, 0, 0);
  return result < 0 ? undefined : memory.bytes.readUInt32LE(ethtoolAt + 4) !== 0;
};

/** Whether frames can leave by it now. */
export const linkStateOf = (name: string): 'up' | 'down' | 'gone' =>
  asking((fd) => {
    const flags = ask(fd, request.flags, name)?.readUInt16LE(0);
    if (flags === undefined) return 'gone';
    // The flag of the system may be a second late.
    const hasCarrier = carrierOf(fd, name) ?? (flags & flag.running) !== 0;
    return (flags & flag.up) !== 0 && hasCarrier ? 'up' : 'down';
  });
