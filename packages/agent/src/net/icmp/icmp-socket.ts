import { SystemError } from '../kernel/errno.ts';
import { findLibc, requireLibc } from '../kernel/libc.ts';
import { scratch } from '../kernel/memory.ts';
import { bindSocket, closeSocket, configureOrClose, option, trySetOption } from '../kernel/socket.ts';
import { family } from '../kernel/socket-address.ts';

export type IcmpSocketKind = 'raw' | 'ping';

const kinds = { raw: 3, ping: 2 } as const;
const nonBlockingCloseOnExec = 0x8_0800;
const protocols = { 4: 1, 6: 58 } as const;
const ttlOptions = { 4: [0, 2], 6: [41, 16] } as const;
const bufferBytes = 8_388_608;

/** Message types used here: requests, replies and the errors about our own messages. */
export const icmpType = {
  4: { request: 8, reply: 0, unreachable: 3, exceeded: 11 },
  6: { request: 128, reply: 129, unreachable: 1, exceeded: 3 },
} as const;

const setBytes = (fd: number, level: number, name: number, bytes: Uint8Array): void => {
  const memory = scratch();
  memory.bytes.set(bytes, 0);
  const libc = requireLibc();
  if (libc.setsockopt(fd, level, name, memory.addressOf(0, bytes.length), bytes.length) < 0)
    throw new SystemError('setsockopt', libc.errno());
};

const numberBytes = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
};

const responseTypes = (version: 4 | 6): readonly number[] => {
  const { reply, unreachable, exceeded } = icmpType[version];
  return [reply, unreachable, exceeded];
};

/** Blocks all other message types; a set bit blocks a type. */
const filterTypes = (fd: number, version: 4 | 6, wanted: readonly number[]): void => {
  const blocked = Buffer.alloc(version === 4 ? 4 : 32, 0xff);
  for (const type of wanted) blocked[type >> 3] = (blocked[type >> 3] as number) & ~(1 << (type & 7));
  setBytes(fd, version === 4 ? 255 : 58, 1, blocked);
};

export interface IcmpSocketOptions {
  readonly version: 4 | 6;
  readonly kind: IcmpSocketKind;
  readonly sourceAddress?: string | undefined;
  readonly ttl?: number | undefined;
  /** Types to receive; by default replies and errors about our own messages. */
  readonly types?: readonly number[];
}

export const openIcmpSocket = ({
  version,
  kind,
  sourceAddress,
  ttl,
  types = responseTypes(version),
}: IcmpSocketOptions): number => {
  const libc = requireLibc();
  const domain = version === 4 ? family.inet : family.inet6;
  const opened = libc.socket(domain, kinds[kind] | nonBlockingCloseOnExec, protocols[version]);
  if (opened < 0) throw new SystemError('socket', libc.errno());
  return configureOrClose(opened, (fd) => {
    if (kind === 'raw') filterTypes(fd, version, types);
    trySetOption(fd, option.receiveBufferForced, bufferBytes);
    trySetOption(fd, option.sendBufferForced, bufferBytes);
    const [level, name] = ttlOptions[version];
    if (ttl !== undefined) setBytes(fd, level, name, numberBytes(ttl));
    if (sourceAddress !== undefined) bindSocket(fd, { address: sourceAddress, port: 0 });
  });
};

const permissionHints: Readonly<Record<IcmpSocketKind, string>> = {
  raw: 'raw sockets require cap_net_raw',
  ping: "net.ipv4.ping_group_range does not include the agent's group",
};

/** Why such a socket cannot be opened; undefined if it can. */
export const probeIcmp = (kind: IcmpSocketKind): string | undefined => {
  const found = findLibc();
  if ('reason' in found) return found.reason;
  try {
    closeSocket(openIcmpSocket({ version: 4, kind }));
    return undefined;
  } catch (error) {
    const { code } = error as SystemError;
    return code === 'EPERM' || code === 'EACCES' ? permissionHints[kind] : (error as Error).message;
  }
};
