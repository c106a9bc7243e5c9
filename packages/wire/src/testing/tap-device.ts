// Node only: a TAP device, so that the kernel of the network namespace is the neighbour of emulated hosts.
import { closeSync, constants, openSync } from 'node:fs';
import { createRequire } from 'node:module';

interface Koffi {
  load(path: null): { func(declaration: string): (...args: unknown[]) => number };
}

const setInterface = 0x400454ca;
const tap = 0x0002;
const noPacketInfo = 0x1000;

export interface TapDevice {
  /** Reads one frame into a buffer. Returns its length, or -1 if there is none. */
  read(buffer: Uint8Array): number;
  /** Returns false if the kernel does not take the frame now. */
  write(frame: Uint8Array): boolean;
  close(): void;
}

/** Creates the device in the namespace of this process; it vanishes when it is closed. */
export const openTap = (name: string): TapDevice => {
  const koffi = createRequire(import.meta.url)('koffi') as Koffi;
  const libc = koffi.load(null);
  const ioctl = libc.func('int ioctl(int fd, unsigned long request, uint8_t *argument)');
  const read = libc.func('long read(int fd, uint8_t *buffer, size_t length)');
  const write = libc.func('long write(int fd, uint8_t *buffer, size_t length)');
  const fd = openSync('/dev/net/tun', constants.O_RDWR | constants.O_NONBLOCK);
  const request = Buffer.alloc(40);
  request.write(name, 0, 'latin1');
  request.writeUInt16LE(tap | noPacketInfo, 16);
  if (ioctl(fd, setInterface, request) < 0) {
    closeSync(fd);
    throw new Error(`could not create the TAP device ${name}: CAP_NET_ADMIN is missing`);
  }
  return {
    read: (buffer) => read(fd, buffer, buffer.length),
    write: (frame) => write(fd, frame, frame.length) === frame.length,
    close: () => closeSync(fd),
  };
};
