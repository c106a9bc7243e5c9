import { findProtoType, type ProtoField, type ProtoFile } from './proto-file.ts';
import { ProtoError } from './proto-tokens.ts';

const wireType = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** As deep as other implementations read. */
const maxDepth = 100;

/** A growing list of bytes. */
class ProtoOutput {
  readonly bytes: number[] = [];

  varint(value: bigint): void {
    let left = BigInt.asUintN(64, value);
    for (; left > 127n; left >>= 7n) this.bytes.push(Number(left & 127n) | 128);
    this.bytes.push(Number(left));
  }

  tag(number: number, type: number): void {
    this.varint(BigInt(number) * 8n + BigInt(type));
  }

  block(bytes: readonly number[] | Uint8Array): void {
    this.varint(BigInt(bytes.length));
    for (const byte of bytes) this.bytes.push(byte);
  }

  view(length: number, write: (view: DataView) => void): void {
    const bytes = new Uint8Array(length);
    write(new DataView(bytes.buffer));
    this.bytes.push(...bytes);
  }
}

interface Scalar {
  readonly wire: number;
  /** Writes the value; true if it is the default one. Throws `ProtoError`. */
  readonly write: (out: ProtoOutput, value: unknown) => boolean;
}

const wholeOf = (value: unknown, [min, max]: readonly [bigint, bigint]): bigint => {
  const isWritten = typeof value === 'string' && /^-?\d{1,20}$/.test(value);
  if (!isWritten && !(typeof value === 'number' && Number.isInteger(value))) throw new ProtoError('is no whole number');
  const whole = BigInt(value as string | number);
  if (whole < min || whole > max) throw new ProtoError(`is not within ${min} to ${max}`);
  return whole;
};

const signed = (bits: bigint): readonly [bigint, bigint] => [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n];
const unsigned = (bits: bigint): readonly [bigint, bigint] => [0n, (1n << bits) - 1n];

const varint = (range: readonly [bigint, bigint], change = (value: bigint) => value): Scalar => ({
  wire: wireType.varint,
  write(out, value) {
    const whole = wholeOf(value, range);
    out.varint(change(whole));
    return whole === 0n;
  },
});

const zigzag = (value: bigint): bigint => (value << 1n) ^ (value < 0n ? -1n : 0n);

const fixed = (bits: 32 | 64, range: readonly [bigint, bigint]): Scalar => ({
  wire: bits === 32 ? wireType.fixed32 : wireType.fixed64,
  write(out, value) {
    const whole = wholeOf(value, range);
    out.view(bits / 8, (view) =>
      bits === 32
        ? view.setUint32(0, Number(BigInt.asUintN(32, whole)), true)
        : view.setBigUint64(0, BigInt.asUintN(64, whole), true),
    );
    return whole === 0n;
  },
});

const floating = (bits: 32 | 64): Scalar => ({
  wire: bits === 32 ? wireType.fixed32 : wireType.fixed64,
  write(out, value) {
    const isNamed = value === 'NaN' || value === 'Infinity' || value === '-Infinity';
    if (typeof value !== 'number' && !isNamed) throw new ProtoError('is no number');
    const number = Number(value);
    out.view(bits / 8, (view) => (bits === 32 ? view.setFloat32(0, number, true) : view.setFloat64(0, number, true)));
    return Object.is(number, 0);
  },
});

const text: Scalar = {
  wire: wireType.bytes,
  write(out, value) {
    if (typeof value !== 'string') throw new ProtoError('is no text');
    out.block(new TextEncoder().encode(value));
    return value === '';
  },
};

const blob: Scalar = {
  wire: wireType.bytes,
  write(out, value) {
    if (typeof value !== 'string' || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) throw new ProtoError('is no base64');
    const binary = atob(value.replaceAll('-', '+').replaceAll('_', '/'));
    out.block(Uint8Array.from(binary, (letter) => letter.charCodeAt(0)));
    return value === '';
  },
};

const truth: Scalar = {
  wire: wireType.varint,
  write(out, value) {
    if (typeof value !== 'boolean') throw new ProtoError('is neither true nor false');
    out.varint(value ? 1n : 0n);
    return !value;
  },
};

const scalars: ReadonlyMap<string, Scalar> = new Map([
  ['int32', varint(signed(32n))],
  ['int64', varint(signed(64n))],
  ['uint32', varint(unsigned(32n))],
  ['uint64', varint(unsigned(64n))],
  ['sint32', varint(signed(32n), zigzag)],
  ['sint64', varint(signed(64n), zigzag)],
  ['fixed32', fixed(32, unsigned(32n))],
  ['fixed64', fixed(64, unsigned(64n))],
  ['sfixed32', fixed(32, signed(32n))],
  ['sfixed64', fixed(64, signed(64n))],
  ['float', floating(32)],
  ['double', floating(64)],
  ['bool', truth],
  ['string', text],
  ['bytes', blob],
]);

const enumScalar = (values: ReadonlyMap<string, number>): Scalar => ({
  wire: wireType.varint,
  write(out, value) {
    const number = typeof value === 'string' ? values.get(value) : value;
    if (number === undefined) throw new ProtoError(`is none of ${[...values.keys()].join(', ')}`);
    return (scalars.get('int32') as Scalar).write(out, number);
  },
});

const jsonNameOf = (name: string): string => name.replaceAll(/_+([A-Za-z0-9])/g, (_, letter) => letter.toUpperCase());

/** Adds the place to the message of an error. */
const at = <T>(key: string | number, action: () => T): T => {
  try {
    return action();
  } catch (error) {
    if (error instanceof ProtoError)
      throw new ProtoError(`${key}${/^\S+: /.test(error.message) ? '.' : ': '}${error.message}`);
    throw error;
  }
};

class ProtoWriter {
  readonly #file: ProtoFile;
  #depth = 0;

  constructor(file: ProtoFile) {
    this.#file = file;
  }

  message(name: string, value: unknown): number[] {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ProtoError('is no object');
    const fields = this.#file.messages.get(name) ?? [];
    const out = new ProtoOutput();
    for (const [key, content] of Object.entries(value)) {
      const field = fields.find((one) => one.name === key || jsonNameOf(one.name) === key);
      if (field === undefined) throw new ProtoError(`${key}: ${name} has no such field`);
      if (content !== null) at(key, () => this.#field(out, name, field, content));
    }
    return out.bytes;
  }

  #field(out: ProtoOutput, scope: string, field: ProtoField, value: unknown): void {
    if (field.keyType !== undefined) this.#map(out, scope, field, value);
    else if (field.isRepeated) this.#list(out, scope, field, value);
    else {
      const one = this.#scalarOf(scope, field.type);
      const written = new ProtoOutput();
      const isDefault = one.write(written, value);
      if (!isDefault || field.hasPresence) this.#put(out, field.number, one, written);
    }
  }

  #list(out: ProtoOutput, scope: string, field: ProtoField, value: unknown): void {
    if (!Array.isArray(value)) throw new ProtoError('is no list');
    const one = this.#scalarOf(scope, field.type);
    const isPacked = one.wire !== wireType.bytes;
    const all = new ProtoOutput();
    for (const [index, item] of value.entries()) {
      const written = isPacked ? all : new ProtoOutput();
      at(index, () => one.write(written, item));
      if (!isPacked) this.#put(out, field.number, one, written);
    }
    if (!isPacked || value.length === 0) return;
    out.tag(field.number, wireType.bytes);
    out.block(all.bytes);
  }

  #map(out: ProtoOutput, scope: string, field: ProtoField, value: unknown): void {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ProtoError('is no object');
    const [keys, values] = [this.#scalarOf(scope, field.keyType as string), this.#scalarOf(scope, field.type)];
    for (const [key, content] of Object.entries(value)) {
      const entry = new ProtoOutput();
      const parts = [new ProtoOutput(), new ProtoOutput()] as const;
      at(key, () => keys.write(parts[0], field.keyType === 'bool' ? key === 'true' : key));
      at(key, () => values.write(parts[1], content));
      this.#put(entry, 1, keys, parts[0]);
      this.#put(entry, 2, values, parts[1]);
      out.tag(field.number, wireType.bytes);
      out.block(entry.bytes);
    }
  }

  #put(out: ProtoOutput, number: number, { wire }: Scalar, written: ProtoOutput): void {
    out.tag(number, wire);
    for (const byte of written.bytes) out.bytes.push(byte);
  }

  /** How values of a type are written: scalars, enumerations and messages alike. */
  #scalarOf(scope: string, type: string): Scalar {
    const scalar = scalars.get(type);
    if (scalar !== undefined) return scalar;
    const name = findProtoType(this.#file, scope, type);
    if (name === undefined) throw new ProtoError(`the type ${type} is not in the file`);
    const values = this.#file.enums.get(name);
    if (values !== undefined) return enumScalar(values);
    return {
      wire: wireType.bytes,
      write: (out, value) => {
        if (this.#depth >= maxDepth) throw new ProtoError('is nested too deep');
        this.#depth++;
        out.block(this.message(name, value));
        this.#depth--;
        return false;
      },
    };
  }
}

/**
 * A message on the wire, from its content in the JSON form of Protocol Buffers. Throws `ProtoError` with the place that
 * does not fit.
 */
export const encodeProto = (file: ProtoFile, message: string, content: unknown): Uint8Array =>
  Uint8Array.from(new ProtoWriter(file).message(message, content));
