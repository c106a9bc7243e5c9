import { release } from 'node:os';
import { SystemError } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { scratch } from '../kernel/scratch.ts';
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

const findAttribute = (answer: Buffer, wanted: number): Buffer | undefined => {
  for (let at = headBytes; at + 4 <= answer.length; ) {
    const length = answer.readUInt16LE(at);
    if (length < 4) return undefined;
    if ((answer.readUInt16LE(at + 2) & 0x3fff) === wanted) return answer.subarray(at + 4, at + length);
    at += Math.ceil(length / 4) * 4;
  }
  return undefined;
};

/** Asks the kernel; the answer is that of the next question no longer. */
const ask = (fd: number, question: Buffer): Buffer | undefined => {
  const memory = scratch();
  const libc = requireLibc();
  memory.bytes.set(question, 0);
  if (libc.send(fd, memory.addressOf(0, question.length), question.length, 0) < 0)
    throw new SystemError('send', libc.errno());
  const length = libc.recv(fd, memory.addressOf(answerAt, answerBytes), answerBytes, 0);
  if (length < headBytes) throw new SystemError('recv', libc.errno());
  const answer = Buffer.from(memory.bytes.subarray(answerAt, answerAt + length));
  return answer.readUInt16LE(4) === errorType ? undefined : answer;
};

/** What an interface can do with frames of XDP, as bits; undefined where the kernel does not tell. */
const featuresOf = (device: Device): bigint | undefined => {
  const fd = openSocket(familyNetlink, socketRaw, genericProtocol);
  try {
    const name = attribute(controller.name, Buffer.from('netdev\0'));
    const family = ask(fd, message(controller.type, controller.getFamily, name));
    const id = family && findAttribute(family, controller.id);
    if (id === undefined) return undefined;
    const index = Buffer.alloc(4);
    index.writeUInt32LE(device.index);
    const answer = ask(fd, message(id.readUInt16LE(0), devices.get, attribute(devices.index, index)));
    return answer && findAttribute(answer, devices.features)?.readBigUInt64LE(0);
  } finally {
    closeSocket(fd);
  }
};

const takesFrames = 4n;

/** Why an interface takes no frames that a program in the kernel sends; undefined when it takes them. */
export const frameTakingRefusal = (device: Device): string | undefined => {
  const features = featuresOf(device);
  if (features === undefined) return `kernel ${release()} does not tell what ${device.name} can do`;
  return (features & takesFrames) === 0n
    ? `the driver of ${device.name} takes no frames of XDP (a veth does when its other end has GRO on)`
    : undefined;
};
