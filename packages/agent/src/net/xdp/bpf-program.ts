/**
 * Registers: 0 holds results, 1 to 5 are arguments and clobbered by calls, 6 to 9 are preserved, 10 is the frame
 * pointer.
 */
export type Register = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10;

const alu = { add: 0x07, subtract: 0x17, multiply: 0x27, and: 0x57, left: 0x67, right: 0x77, modulo: 0x97, xor: 0xa7 };
const aluDivide = 0x37;
const fromRegister = 0x08;
const move = 0xb7;
const toBigEndian = 0xdc;
const loadWide = 0x18;
const wideKind = { number: 0, map: 1, mapValue: 2 } as const;
const size = { 1: 0x10, 2: 0x08, 4: 0x00, 8: 0x18 } as const;
const load = 0x61;
const store = 0x63;
const jump = { always: 0x05, equal: 0x15, above: 0x25, atLeast: 0x35, notEqual: 0x55, below: 0xa5 } as const;
const call = 0x85;
const exit = 0x95;

/** Numbers of BPF helper functions. */
export const kernelFunction = {
  findInMap: 1,
  timeNs: 5,
  random32: 7,
  processor: 8,
  redirectByMap: 51,
  changeTail: 65,
  storeBytes: 190,
} as const;

type Operation = keyof typeof alu | 'divide';
type Condition = Exclude<keyof typeof jump, 'always'>;
/** A register or a constant of 31 bits. */
type Operand = { readonly register: Register } | number;

interface Line {
  readonly code: number;
  readonly registers: number;
  offset: number;
  readonly value: number;
}

/** Assembles an eBPF program. Jumps name labels further down. */
export class BpfProgram {
  readonly #lines: Line[] = [];
  readonly #labels = new Map<string, number>();
  readonly #jumps: { readonly line: number; readonly label: string }[] = [];

  set(to: Register, from: Operand): this {
    return this.#operand(move, to, from);
  }

  /** Loads a constant of up to 2^53. */
  setWide(to: Register, value: number): this {
    return this.#wide(to, wideKind.number, value % 4_294_967_296, Math.floor(value / 4_294_967_296));
  }

  setMap(to: Register, fd: number): this {
    return this.#wide(to, wideKind.map, fd, 0);
  }

  /** Loads the address of the first value of a map. */
  setMapValue(to: Register, fd: number): this {
    return this.#wide(to, wideKind.mapValue, fd, 0);
  }

  math(operation: Operation, to: Register, by: Operand): this {
    return this.#operand(operation === 'divide' ? aluDivide : alu[operation], to, by);
  }

  bigEndian(register: Register, bits: 16 | 32): this {
    return this.#line(toBigEndian, register, 0, 0, bits);
  }

  load(bytes: 1 | 2 | 4 | 8, to: Register, from: Register, offset: number): this {
    return this.#line(load | size[bytes], to, from, offset, 0);
  }

  store(bytes: 1 | 2 | 4 | 8, to: Register, offset: number, from: Register): this {
    return this.#line(store | size[bytes], to, from, offset, 0);
  }

  jump(label: string): this {
    return this.#jumpTo(label).#line(jump.always, 0, 0, 0, 0);
  }

  jumpIf(left: Register, condition: Condition, right: Operand, label: string): this {
    return this.#jumpTo(label).#operand(jump[condition], left, right);
  }

  label(name: string): this {
    this.#labels.set(name, this.#lines.length);
    return this;
  }

  call(which: number): this {
    return this.#line(call, 0, 0, 0, which);
  }

  /** Ends the program with this result. */
  answer(value: number): this {
    return this.set(0, value).#line(exit, 0, 0, 0, 0);
  }

  /** Ends the program with the result of the last call. */
  exit(): this {
    return this.#line(exit, 0, 0, 0, 0);
  }

  assemble(): Buffer {
    for (const { line, label } of this.#jumps) {
      const target = this.#labels.get(label);
      if (target === undefined) throw new RangeError(`the program has no label ${label}`);
      (this.#lines[line] as Line).offset = target - line - 1;
    }
    const bytes = Buffer.alloc(this.#lines.length * 8);
    for (const [index, { code, registers, offset, value }] of this.#lines.entries()) {
      bytes[index * 8] = code;
      bytes[index * 8 + 1] = registers;
      bytes.writeInt16LE(offset, index * 8 + 2);
      bytes.writeInt32LE(value | 0, index * 8 + 4);
    }
    return bytes;
  }

  #operand(code: number, to: Register, operand: Operand): this {
    if (typeof operand !== 'number') return this.#line(code | fromRegister, to, operand.register, 0, 0);
    if (operand < -(2 ** 31) || operand >= 2 ** 31) throw new RangeError(`${operand} does not fit into an instruction`);
    return this.#line(code, to, 0, 0, operand);
  }

  #wide(to: Register, kind: number, low: number, high: number): this {
    this.#line(loadWide, to, kind as Register, 0, low);
    return this.#line(0, 0, 0, 0, high);
  }

  #jumpTo(label: string): this {
    this.#jumps.push({ line: this.#lines.length, label });
    return this;
  }

  #line(code: number, to: Register, from: Register, offset: number, value: number): this {
    this.#lines.push({ code, registers: to | (from << 4), offset, value });
    return this;
  }
}
