// DES (FIPS 46-3), one block: MS-CHAPv2 needs three of them for a session, so clarity goes before speed.

const table = (text: string): number[] => text.trim().split(/\s+/).map(Number);

const initial = table(`58 50 42 34 26 18 10 2 60 52 44 36 28 20 12 4 62 54 46 38 30 22 14 6 64 56 48 40 32 24 16 8
  57 49 41 33 25 17 9 1 59 51 43 35 27 19 11 3 61 53 45 37 29 21 13 5 63 55 47 39 31 23 15 7`);
const final = table(`40 8 48 16 56 24 64 32 39 7 47 15 55 23 63 31 38 6 46 14 54 22 62 30 37 5 45 13 53 21 61 29
  36 4 44 12 52 20 60 28 35 3 43 11 51 19 59 27 34 2 42 10 50 18 58 26 33 1 41 9 49 17 57 25`);
const expansion = table(`32 1 2 3 4 5 4 5 6 7 8 9 8 9 10 11 12 13 12 13 14 15 16 17
  16 17 18 19 20 21 20 21 22 23 24 25 24 25 26 27 28 29 28 29 30 31 32 1`);
const permutation = table(`16 7 20 21 29 12 28 17 1 15 23 26 5 18 31 10 2 8 24 14 32 27 3 9 19 13 30 6 22 11 4 25`);
const keyChoice1 = table(`57 49 41 33 25 17 9 1 58 50 42 34 26 18 10 2 59 51 43 35 27 19 11 3 60 52 44 36
  63 55 47 39 31 23 15 7 62 54 46 38 30 22 14 6 61 53 45 37 29 21 13 5 28 20 12 4`);
const keyChoice2 = table(`14 17 11 24 1 5 3 28 15 6 21 10 23 19 12 4 26 8 16 7 27 20 13 2
  41 52 31 37 47 55 30 40 51 45 33 48 44 49 39 56 34 53 46 42 50 36 29 32`);
const shifts = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1];
/** Each box as 64 hexadecimal digits: four rows of sixteen. */
const boxes = [
  'e4d12fb83a6c5907 0f74e2d1a6cb9538 41e8d62bfc973a50 fc8249175b3ea06d',
  'f18e6b34972dc05a 3d47f28ec01a69b5 0e7ba4d158c6932f d8a13f42b67c05e9',
  'a09e63f51dc7b428 d709346a285ecbf1 d6498f30b12c5ae7 1ad069874fe3b52c',
  '7de3069a1285bc4f d8b56f03472c1ae9 a690cb7df13e5284 3f06a1d8945bc72e',
  '2c417ab6853fd0e9 eb2c47d150fa3986 421bad78f9c5630e b8c71e2d6f09a453',
  'c1af92680d34e75b af427c9561de0b38 9ef528c3704a1db6 432c95fabe17608d',
  '4b2ef08d3c975a61 d0b7491ae35c2f86 14bdc37eaf680592 6bd814a7950fe23c',
  'd2846fb1a93e50c7 1fd8a374c56b0e92 7b419ce206adf358 21e74a8dfc90356b',
].map((text) => Array.from(text.replaceAll(' ', ''), (digit) => Number.parseInt(digit, 16)));

type Bits = readonly number[];
const choose = (bits: Bits, order: readonly number[]): number[] => order.map((at) => bits[at - 1] as number);
const xor = (a: Bits, b: Bits): number[] => a.map((bit, i) => bit ^ (b[i] as number));
const bitsOf = (bytes: Uint8Array): number[] =>
  Array.from(bytes).flatMap((byte) => Array.from({ length: 8 }, (_, i) => (byte >>> (7 - i)) & 1));

const roundKeys = (key: Bits): number[][] => {
  let halves = choose(key, keyChoice1);
  return shifts.map((shift) => {
    const rotate = (half: Bits) => [...half.slice(shift), ...half.slice(0, shift)];
    halves = [...rotate(halves.slice(0, 28)), ...rotate(halves.slice(28))];
    return choose(halves, keyChoice2);
  });
};

const substitute = (bits: Bits): number[] =>
  boxes.flatMap((box, i) => {
    const [a, b, c, d, e, f] = bits.slice(i * 6, i * 6 + 6) as [number, number, number, number, number, number];
    const value = box[(a * 2 + f) * 16 + b * 8 + c * 4 + d * 2 + e] as number;
    return [value >>> 3, (value >>> 2) & 1, (value >>> 1) & 1, value & 1];
  });

/** Encrypts one block of 8 bytes with a key of 7 bytes, as MS-CHAP has them: parity bits are left out. */
export const desEncrypt = (key: Uint8Array, block: Uint8Array): Uint8Array => {
  const bits = bitsOf(key.subarray(0, 7));
  const wide = Array.from({ length: 64 }, (_, i) =>
    i % 8 === 7 ? 0 : (bits[Math.floor(i / 8) * 7 + (i % 8)] as number),
  );
  const mixed = choose(bitsOf(block), initial);
  let [left, right] = [mixed.slice(0, 32), mixed.slice(32)];
  for (const roundKey of roundKeys(wide)) {
    const changed = choose(substitute(xor(choose(right, expansion), roundKey)), permutation);
    [left, right] = [right, xor(left, changed)];
  }
  const output = choose([...right, ...left], final);
  return Uint8Array.from({ length: 8 }, (_, i) =>
    output.slice(i * 8, i * 8 + 8).reduce((sum, bit) => sum * 2 + bit, 0),
  );
};
