// MD4 and MD5 share padding and the order of bytes. Texts are short: a message of PPP, or a segment.

const md5Shifts = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
const md5Constants = Int32Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32));

const rotate = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));

/** Pads a text to blocks of 64 bytes, with its length in bits at the end. */
export const padBlocks = (text: Uint8Array, isLittleEndian: boolean): DataView => {
  const length = Math.ceil((text.length + 9) / 64) * 64;
  const bytes = new Uint8Array(length);
  bytes.set(text);
  bytes[text.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setUint32(length - (isLittleEndian ? 8 : 4), text.length * 8, isLittleEndian);
  return view;
};

const digestOf = (words: Int32Array): Uint8Array => {
  const view = new DataView(new ArrayBuffer(words.length * 4));
  for (const [i, word] of words.entries()) view.setInt32(i * 4, word, true);
  return new Uint8Array(view.buffer);
};

const md5Block = (state: Int32Array, words: Int32Array): void => {
  let [a, b, c, d] = state as unknown as [number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const round = i >> 4;
    let mixed: number;
    let index = i;
    if (round === 0) mixed = (b & c) | (~b & d);
    else if (round === 1) {
      mixed = (d & b) | (~d & c);
      index = 5 * i + 1;
    } else if (round === 2) {
      mixed = b ^ c ^ d;
      index = 3 * i + 5;
    } else {
      mixed = c ^ (b | ~d);
      index = 7 * i;
    }
    const sum = (a + mixed + (md5Constants[i] as number) + (words[index & 15] as number)) | 0;
    a = d;
    d = c;
    c = b;
    b = (b + rotate(sum, md5Shifts[round * 4 + (i & 3)] as number)) | 0;
  }
  addState(state, a, b, c, d);
};

const addState = (state: Int32Array, ...values: number[]): void => {
  for (const [i, value] of values.entries()) state[i] = (state[i] as number) + value;
};

const md4Shifts = [3, 7, 11, 19, 3, 5, 9, 13, 3, 9, 11, 15];
const md4Order = [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15];

const md4Block = (state: Int32Array, words: Int32Array): void => {
  let [a, b, c, d] = state as unknown as [number, number, number, number];
  for (let i = 0; i < 48; i++) {
    const round = i >> 4;
    const step = i & 15;
    let mixed: number;
    let index = step;
    if (round === 0) mixed = (b & c) | (~b & d);
    else if (round === 1) {
      mixed = ((b & c) | (b & d) | (c & d)) + 0x5a827999;
      index = (step & 3) * 4 + (step >> 2);
    } else {
      mixed = (b ^ c ^ d) + 0x6ed9eba1;
      index = md4Order[step] as number;
    }
    const sum = (a + mixed + (words[index] as number)) | 0;
    a = d;
    d = c;
    c = b;
    b = rotate(sum, md4Shifts[round * 4 + (i & 3)] as number);
  }
  addState(state, a, b, c, d);
};

const hashWith =
  (block: (state: Int32Array, words: Int32Array) => void) =>
  (text: Uint8Array): Uint8Array => {
    const view = padBlocks(text, true);
    const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
    const words = new Int32Array(16);
    for (let at = 0; at < view.byteLength; at += 64) {
      for (let i = 0; i < 16; i++) words[i] = view.getInt32(at + i * 4, true);
      block(state, words);
    }
    return digestOf(state);
  };

/** MD5 (RFC 1321). */
export const md5: (text: Uint8Array) => Uint8Array = hashWith(md5Block);
/** MD4 (RFC 1320). */
export const md4: (text: Uint8Array) => Uint8Array = hashWith(md4Block);
