import { readFileSync } from 'node:fs';
import { errno, SystemError } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { scratch } from '../kernel/memory.ts';
import { closeSocket, openSocket, socketType } from '../kernel/socket.ts';
import { family } from '../kernel/socket-address.ts';

const ioctl = process.arch === 'x64' ? 16 : 29;
const request = { flags: 0x8913, mtu: 0x8921, hardware: 0x8927, index: 0x8933, ethtool: 0x8946 } as const;
const nameBytes = 16;
const requestBytes = 40;
const ethtoolGet = { link: 0xa, segmentation: 0x1e } as const;
const ethtoolAt = 64;
/** Ethernet and loopback. */
const ethernetKinds: ReadonlySet<number> = new Set([1, 772]);
const flag = { up: 1, running: 0x40 } as const;

/** A network interface. */
export interface Device {
  readonly name: string;
  readonly index: number;
  readonly mac: Buffer;
  /** Whether frames have an Ethernet header; otherwise they are bare IP packets. */
  readonly isEthernet: boolean;
  /** Without the Ethernet header. */
  readonly mtu: number;
}

/** The interface of a job no longer exists. */
export class DeviceGone extends Error {
  readonly code = 'INTERFACE_GONE';
  constructor(name: string) {
    super(`interface ${name} no longer exists`);
  }
}

/** Queries an interface with an `ioctl`; undefined if there is no interface of this name. */
const queryInterface = (fd: number, which: number, name: string): Buffer | undefined => {
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

const withInterfaceSocket = <T>(work: (fd: number) => T): T => {
  const fd = openSocket(family.inet, socketType.datagram);
  try {
    return work(fd);
  } finally {
    closeSocket(fd);
  }
};

export const findDevice = (name: string): Device | undefined =>
  withInterfaceSocket((fd) => {
    const [index, hardware, mtu] = [request.index, request.hardware, request.mtu].map((which) =>
      queryInterface(fd, which, name),
    );
    if (index === undefined || hardware === undefined || mtu === undefined) return undefined;
    // The first two bytes are the hardware type.
    const isEthernet = ethernetKinds.has(hardware.readUInt16LE(0));
    return { name, index: index.readInt32LE(0), mac: hardware.subarray(2, 8), isEthernet, mtu: mtu.readInt32LE(0) };
  });

export const requireDevice = (name: string): Device => {
  const device = findDevice(name);
  if (device === undefined) throw new DeviceGone(name);
  return device;
};

/** What the driver says about an interface; undefined if it does not. */
const askDriver = (fd: number, name: string, question: number): boolean | undefined => {
  const memory = scratch();
  memory.bytes.fill(0, 0, ethtoolAt + 8);
  memory.bytes.write(name.slice(0, nameBytes - 1), 0, 'latin1');
  memory.bytes.writeBigUInt64LE(BigInt(memory.addressOf(ethtoolAt, 8)), nameBytes);
  memory.bytes.writeUInt32LE(question, ethtoolAt);
  const result = requireLibc().syscall(ioctl, fd, request.ethtool, memory.addressOf(0, requestBytes), 0, 0, 0);
  return result < 0 ? undefined : memory.bytes.readUInt32LE(ethtoolAt + 4) !== 0;
};

/** Whether the interface takes TCP packets that are larger than its MTU; a virtual one passes them on as they are. */
export const takesLargePackets = (name: string): boolean =>
  withInterfaceSocket((fd) => askDriver(fd, name, ethtoolGet.segmentation) ?? false);

/** Whether frames can be sent now. */
export const linkStateOf = (name: string): 'up' | 'down' | 'gone' =>
  withInterfaceSocket((fd) => {
    const flags = queryInterface(fd, request.flags, name)?.readUInt16LE(0);
    if (flags === undefined) return 'gone';
    // The state reported by the driver is current; the kernel's flag may lag by a second.
    const hasCarrier = askDriver(fd, name, ethtoolGet.link) ?? (flags & flag.running) !== 0;
    return (flags & flag.up) !== 0 && hasCarrier ? 'up' : 'down';
  });

/** Speed of the link as the kernel says; undefined if it does not. */
export const speedMbpsOf = (name: string): number | undefined => {
  try {
    const speed = Number(readFileSync(`/sys/class/net/${name}/speed`, 'utf8'));
    return speed > 0 ? speed : undefined;
  } catch {
    return undefined;
  }
};
