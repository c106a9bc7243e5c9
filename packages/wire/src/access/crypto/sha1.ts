import { padBlocks } from '../../bytes/md5.ts';

const rotate = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));
const constants = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6] as const;

const mix = (round: number, b: number, c: number, d: number): number => {
  if (round === 0) return (b & c) | (~b & d);
  return round === 2 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
};

const addBlock = (state: Int32Array, words: Int32Array): void => {
  for (let i = 16; i < 80; i++) {
    const sum = (words[i - 3] as number) ^ (words[i - 8] as number) ^ (words[i - 14] as number);
    words[i] = rotate(sum ^ (words[i - 16] as number), 1);
  }
  let [a, b, c, d, e] = state as unknown as [number, number, number, number, number];
  for (let i = 0; i < 80; i++) {
    const round = Math.floor(i / 20);
    const next = (rotate(a, 5) + mix(round, b, c, d) + e + (constants[round] as number) + (words[i] as number)) | 0;
    e = d;
    d = c;
    c = rotate(b, 30);
    b = a;
    a = next;
  }
  for (const [i, value] of [a, b, c, d, e].entries()) state[i] = (state[i] as number) + value;
};

/** SHA-1 (RFC 3174) of parts one after the other. */
export const sha1 = (...parts: readonly Uint8Array[]): Uint8Array => {
  const text = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    text.set(part, at);
    at += part.length;
  }
  const view = padBlocks(text, false);
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
  const words = new Int32Array(80);
  for (let block = 0; block < view.byteLength; block += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getInt32(block + i * 4);
    addBlock(state, words);
  }
  const digest = new DataView(new ArrayBuffer(20));
  for (const [i, word] of state.entries()) digest.setInt32(i * 4, word);
  return new Uint8Array(digest.buffer);
};
