import type { SeededBytes } from '../signatures/expressions/seeded-bytes.ts';

/** Changes bytes in one way; chance decides where and by how much. */
export type Mutator = (bytes: Buffer, chance: SeededBytes, words: readonly string[]) => Buffer;

const maxBytes = 65_536;
const edges = [0, 1, 127, 128, 255, 256, 32_767, 32_768, 65_535, 65_536, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32];
const formats = ['%n%n%n%n', '%s%s%s%s%s', '%x'.repeat(16), '%99999999d', '%p%p'];
const letters = ['\u0000', '\ufeff', '\u202e', 'ﬀ', 'İ', '%c0%af', '%u2215', '\ud83d\ude00', 'A\u030a'.repeat(8)];
const rules = ['()', '[]', '{}', '""', "''", '<>', '/*', '*/', '--', ';', '..', '//', '\\\\', '\r\n', '&&', '||'];

const cut = (bytes: Buffer) => bytes.subarray(0, maxBytes);
const pick = <T>(items: readonly T[], chance: SeededBytes) => items[chance.below(items.length)] as T;
/** A place in the bytes, and a length from there. */
const span = (bytes: Buffer, chance: SeededBytes, max = 16) => {
  const at = chance.below(Math.max(1, bytes.length));
  return { at, end: Math.min(bytes.length, at + 1 + chance.below(max)) };
};
const spliced = (bytes: Buffer, at: number, end: number, put: Buffer | string) =>
  cut(Buffer.concat([bytes.subarray(0, at), typeof put === 'string' ? Buffer.from(put) : put, bytes.subarray(end)]));
const inserted = (bytes: Buffer, chance: SeededBytes, put: Buffer | string) => {
  const at = chance.below(bytes.length + 1);
  return spliced(bytes, at, at, put);
};

const changedAt = (bytes: Buffer, chance: SeededBytes, change: (byte: number) => number) => {
  if (bytes.length === 0) return Buffer.from([chance.byte()]);
  const copy = Buffer.from(bytes);
  const at = chance.below(copy.length);
  copy[at] = change(copy[at] as number) & 255;
  return copy;
};

const someNumber = (bytes: Buffer, chance: SeededBytes, put: string) => {
  const numbers = [...bytes.toString('latin1').matchAll(/\d+/g)];
  if (numbers.length === 0) return inserted(bytes, chance, put);
  const number = pick(numbers, chance);
  return spliced(bytes, number.index, number.index + number[0].length, put);
};

/** Every way to change bytes, by name. The same chance, the same change. */
export const mutators: Readonly<Record<string, Mutator>> = {
  'bit-flip': (bytes, chance) => changedAt(bytes, chance, (byte) => byte ^ (1 << chance.below(8))),
  'byte-flip': (bytes, chance) => changedAt(bytes, chance, () => chance.byte()),
  'integer-edge': (bytes, chance) => someNumber(bytes, chance, String(pick([...edges, -1, -(2 ** 31)], chance))),
  'length-lie': (bytes, chance) => someNumber(bytes, chance, String(bytes.length + pick([-1, 1, 1000, 1e9], chance))),
  repeat: (bytes, chance) => {
    const { at, end } = span(bytes, chance);
    const times = 2 ** (1 + chance.below(10));
    return end > at ? spliced(bytes, at, end, Buffer.alloc((end - at) * times, bytes.subarray(at, end))) : bytes;
  },
  truncate: (bytes, chance) => bytes.subarray(0, chance.below(Math.max(1, bytes.length))),
  'insert-random': (bytes, chance) =>
    inserted(bytes, chance, Buffer.from(Array.from({ length: 1 + chance.below(16) }, () => chance.byte()))),
  delete: (bytes, chance) => {
    const { at, end } = span(bytes, chance);
    return spliced(bytes, at, end, '');
  },
  swap: (bytes, chance) => {
    const { at, end } = span(bytes, chance);
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(bytes.subarray(at, end)).reverse(), bytes.subarray(end)]);
  },
  'format-string': (bytes, chance) => inserted(bytes, chance, pick(formats, chance)),
  unicode: (bytes, chance) => inserted(bytes, chance, pick(letters, chance)),
  'null-byte': (bytes, chance) => inserted(bytes, chance, pick(['\0', '%00', '\0\0\0\0'], chance)),
  'long-string': (bytes, chance) => inserted(bytes, chance, 'A'.repeat(2 ** (8 + chance.below(8)))),
  dictionary: (bytes, chance, words) =>
    words.length === 0 ? inserted(bytes, chance, pick(rules, chance)) : inserted(bytes, chance, pick(words, chance)),
  grammar: (bytes, chance) => inserted(bytes, chance, pick(rules, chance).repeat(1 + chance.below(64))),
};
