import { release } from 'node:os';
import { SystemError } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { scratch } from '../kernel/memory.ts';
import { closeSocket, openSocket } from '../kernel/socket.ts';
import type { Device } from '../packet/device.ts';

const familyNetlink = 16;
const socketRaw = 3;
const genericProtocol = 16;
const controller = { type: 0x10, getFamily: 3, name: 2, id: 1 } as const;
const devices = { get: 1, index: 1, features: 3 } as const;
const isRequest = 1;
const errorType = 2;
const headBytes = 20;
const answerAt = 1024;
const answerBytes = 3072;

const attribute = (type: number, value: Buffer): Buffer => {
  const bytes = Buffer.alloc(Math.ceil((4 + value.length) / 4) * 4);
  bytes.writeUInt16LE(4 + value.length, 0);
  bytes.writeUInt16LE(type, 2);
  bytes.set(value, 4);
  return bytes;
};

const message = (type: number, command: number, content: Buffer): Buffer => {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(headBytes + content.length, 0);
  head.writeUInt16LE(type, 4);
  head.writeUInt16LE(isRequest, 6);
  head.writeUInt8(command, 16);
  head.writeUInt8(1, 17);
  return Buffer.concat([head, content]);
};

const findAttribute = (reply: Buffer, wanted: number): Buffer | undefined => {
  for (let at = headBytes; at + 4 <= reply.length; ) {
    const length = reply.readUInt16LE(at);
    if (length < 4) return undefined;
    if ((reply.readUInt16LE(at + 2) & 0x3fff) === wanted) return reply.subarray(at + 4, at + length);
    at += Math.ceil(length / 4) * 4;
  }
  return undefined;
};

/** Sends a netlink request and returns the reply, valid until the next request; undefined on an error reply. */
const query = (fd: number, request: Buffer): Buffer | undefined => {
  const memory = scratch();
  const libc = requireLibc();
  memory.bytes.set(request, 0);
  if (libc.send(fd, memory.addressOf(0, request.length), request.length, 0) < 0)
    throw new SystemError('send', libc.errno());
  const length = libc.recv(fd, memory.addressOf(answerAt, answerBytes), answerBytes, 0);
  if (length < headBytes) throw new SystemError('recv', libc.errno());
  const reply = Buffer.from(memory.bytes.subarray(answerAt, answerAt + length));
  return reply.readUInt16LE(4) === errorType ? undefined : reply;
};

/** The XDP features of an interface as bits; undefined if the kernel does not report them. */
const featuresOf = (device: Device): bigint | undefined => {
  const fd = openSocket(familyNetlink, socketRaw, genericProtocol);
  try {
    const name = attribute(controller.name, Buffer.from('netdev\0'));
    const family = query(fd, message(controller.type, controller.getFamily, name));
    const id = family && findAttribute(family, controller.id);
    if (id === undefined) return undefined;
    const index = Buffer.alloc(4);
    index.writeUInt32LE(device.index);
    const reply = query(fd, message(id.readUInt16LE(0), devices.get, attribute(devices.index, index)));
    return reply && findAttribute(reply, devices.features)?.readBigUInt64LE(0);
  } finally {
    closeSocket(fd);
  }
};

const acceptsXdpTransmit = 4n;

/** Why an interface does not accept frames sent by XDP programs; undefined if it does. */
export const xdpTransmitProblem = (device: Device): string | undefined => {
  const features = featuresOf(device);
  if (features === undefined) return `kernel ${release()} does not report the XDP features of ${device.name}`;
  return (features & acceptsXdpTransmit) === 0n
    ? `the driver of ${device.name} does not transmit XDP frames (a veth does if GRO is on at its peer)`
    : undefined;
};
