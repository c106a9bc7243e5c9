import { errno, SystemError } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { type Memory, mapMemory } from '../kernel/memory.ts';
import { closeSocket } from '../kernel/socket.ts';

const bpfCall = process.arch === 'x64' ? 321 : 280;
const command = { createMap: 0, updateMap: 2, loadProgram: 5, run: 10, openTracepoint: 17, createLink: 28 } as const;
const programType = { xdp: 6, rawTracepoint: 17 } as const;
const arrayMap = 2;
const socketMap = 17;
const isMappable = 0x400;
const liveFrames = 2;
const attributeBytes = 128;
const contextBytes = 24;
const logBytes = 65_536;
const licence = 'GPL\0';
const maxAttempts = 100;

const bpf = (which: number, memory: Memory): number => {
  const libc = requireLibc();
  const attributes = memory.addressOf(0, attributeBytes);
  for (let attempt = 1; ; attempt++) {
    const result = libc.syscall(bpfCall, which, attributes, attributeBytes, 0, 0, 0);
    if (result >= 0) return result;
    const error = libc.errno();
    // A signal interrupts the verifier.
    if (error !== errno.EAGAIN || attempt === maxAttempts) throw new SystemError('bpf', error);
  }
};

/** Runs a step with memory for its arguments. */
const withMemory = <T>(bytes: number, step: (memory: Memory) => T): T => {
  const memory = mapMemory({ length: attributeBytes + bytes });
  try {
    return step(memory);
  } finally {
    memory.release();
  }
};

/** A BPF array map shared with this process. */
export interface SharedArray {
  readonly fd: number;
  readonly memory: Memory;
  /** Distance between values in bytes. */
  readonly stride: number;
  close(): void;
}

export const createSharedArray = (count: number, valueBytes: number): SharedArray => {
  const fd = withMemory(0, (memory) => {
    for (const [index, value] of [arrayMap, 4, valueBytes, count, isMappable].entries())
      memory.bytes.writeUInt32LE(value, index * 4);
    return bpf(command.createMap, memory);
  });
  const stride = Math.ceil(valueBytes / 8) * 8;
  try {
    const memory = mapMemory({ length: stride * count, fd });
    const close = () => {
      memory.release();
      closeSocket(fd);
    };
    return { fd, memory, stride, close };
  } catch (error) {
    closeSocket(fd);
    throw error;
  }
};

/** A map of AF_XDP sockets by queue, to which a program redirects frames. Closing it is up to the caller. */
export const createSocketMap = (queues: number): number =>
  withMemory(0, (memory) => {
    for (const [index, value] of [socketMap, 4, 4, queues].entries()) memory.bytes.writeUInt32LE(value, index * 4);
    return bpf(command.createMap, memory);
  });

export const putSocket = (map: number, queue: number, socket: number): void =>
  withMemory(8, (memory) => {
    const { bytes } = memory;
    bytes.writeUInt32LE(map, 0);
    bytes.writeBigUInt64LE(BigInt(memory.addressOf(attributeBytes, 4)), 8);
    bytes.writeBigUInt64LE(BigInt(memory.addressOf(attributeBytes + 4, 4)), 16);
    bytes.writeUInt32LE(queue, attributeBytes);
    bytes.writeUInt32LE(socket, attributeBytes + 4);
    bpf(command.updateMap, memory);
  });

/** Loads a program. The error includes the verifier's message if it rejects the program. */
export const loadProgram = (type: keyof typeof programType, program: Buffer): number =>
  withMemory(program.length + 8 + logBytes, (memory) => {
    const { bytes } = memory;
    const [licenceAt, programAt] = [attributeBytes, attributeBytes + 8];
    const logAt = programAt + program.length;
    bytes.set(program, programAt);
    bytes.write(licence, licenceAt, 'latin1');
    bytes.writeUInt32LE(programType[type], 0);
    bytes.writeUInt32LE(program.length / 8, 4);
    bytes.writeBigUInt64LE(BigInt(memory.addressOf(programAt, program.length)), 8);
    bytes.writeBigUInt64LE(BigInt(memory.addressOf(licenceAt, licence.length)), 16);
    try {
      return bpf(command.loadProgram, memory);
    } catch (error) {
      if ((error as SystemError).code !== 'EACCES' && (error as SystemError).code !== 'EINVAL') throw error;
      // The log is requested only for rejected programs.
      bytes.writeUInt32LE(1, 24);
      bytes.writeUInt32LE(logBytes, 28);
      bytes.writeBigUInt64LE(BigInt(memory.addressOf(logAt, logBytes)), 32);
      try {
        return bpf(command.loadProgram, memory);
      } catch (cause) {
        const log = bytes.toString('latin1', logAt, bytes.indexOf(0, logAt)).trim().split('\n').slice(-3).join(' ');
        throw log === '' ? error : new Error(`the kernel rejects the program: ${log}`, { cause });
      }
    }
  });

/** Attaches a program to a raw tracepoint. */
export const openTracepoint = (name: string, program: number): number =>
  withMemory(64, (memory) => {
    memory.bytes.write(`${name}\0`, attributeBytes, 'latin1');
    memory.bytes.writeBigUInt64LE(BigInt(memory.addressOf(attributeBytes, 64)), 0);
    memory.bytes.writeUInt32LE(program, 8);
    return bpf(command.openTracepoint, memory);
  });

const xdpPoint = 37;
const attachMode = { generic: 2, driver: 4 } as const;

/** Attaches an XDP program to an interface; closing the result detaches it. */
export const attachProgramTo = (program: number, device: number, mode: keyof typeof attachMode): number =>
  withMemory(0, (memory) => {
    for (const [index, value] of [program, device, xdpPoint, attachMode[mode]].entries())
      memory.bytes.writeUInt32LE(value, index * 4);
    return bpf(command.createLink, memory);
  });

/**
 * Runs an XDP program repeatedly on copies of a model frame and sends the results (`BPF_PROG_TEST_RUN` with live
 * frames).
 */
export class BpfTestRun {
  readonly #memory: Memory;
  readonly #libc = requireLibc();
  readonly #attributes: number;

  constructor(options: { readonly program: number; readonly device: number; readonly model: Uint8Array }) {
    const { program, device, model } = options;
    const [contextAt, modelAt] = [attributeBytes, attributeBytes + contextBytes];
    this.#memory = mapMemory({ length: modelAt + model.length });
    const { bytes } = this.#memory;
    bytes.set(model, modelAt);
    bytes.writeUInt32LE(model.length, contextAt + 4);
    bytes.writeUInt32LE(device, contextAt + 12);
    bytes.writeUInt32LE(program, 0);
    bytes.writeUInt32LE(model.length, 8);
    bytes.writeBigUInt64LE(BigInt(this.#memory.addressOf(modelAt, model.length)), 16);
    bytes.writeUInt32LE(contextBytes, 40);
    bytes.writeBigUInt64LE(BigInt(this.#memory.addressOf(contextAt, contextBytes)), 48);
    bytes.writeUInt32LE(liveFrames, 64);
    this.#attributes = this.#memory.addressOf(0, attributeBytes);
  }

  /** `batch`: after how many repeats frames are handed to the interface. Returns 0 or a negative error number. */
  run(repeats: number, batch: number): number {
    this.#memory.bytes.writeUInt32LE(repeats, 32);
    this.#memory.bytes.writeUInt32LE(batch, 72);
    const result = this.#libc.syscall(bpfCall, command.run, this.#attributes, attributeBytes, 0, 0, 0);
    return result < 0 ? -this.#libc.errno() : 0;
  }

  close(): void {
    this.#memory.release();
  }
}
