/** BLAKE2s (RFC 7693) with a key and any length up to 32 bytes: node:crypto has neither. */

const initial = Uint32Array.of(
  ...[0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a],
  ...[0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19],
);

const sigma = [
  '0123456789abcdef',
  'ea489fd61c02b753',
  'b8c052fdae367194',
  '7931dcbe265a40f8',
  '905724afe1bc683d',
  '2c6a0b834d75fe19',
  'c51fed4a0763928b',
  'db7ec13950f4862a',
  '6fe9b308c2d714a5',
  'a2847615fb9e3cd0',
].map((row) => Array.from(row, (digit) => Number.parseInt(digit, 16)));

const blockBytes = 64;
const columns = [
  ...[0, 4, 8, 12],
  ...[1, 5, 9, 13],
  ...[2, 6, 10, 14],
  ...[3, 7, 11, 15],
  ...[0, 5, 10, 15],
  ...[1, 6, 11, 12],
  ...[2, 7, 8, 13],
  ...[3, 4, 9, 14],
];

const rotate = (value: number, bits: number): number => (value >>> bits) | (value << (32 - bits));

const compress = (state: Uint32Array, block: DataView, total: number, isLast: boolean): void => {
  const v = new Uint32Array(16);
  v.set(state, 0);
  v.set(initial, 8);
  v[12] = (v[12] as number) ^ (total >>> 0);
  v[13] = (v[13] as number) ^ Math.floor(total / 2 ** 32);
  if (isLast) v[14] = ~(v[14] as number);
  const at = (index: number): number => v[index] as number;
  for (const order of sigma) {
    for (let i = 0; i < 8; i++) {
      const [a, b, c, d] = columns.slice(i * 4, i * 4 + 4) as [number, number, number, number];
      const x = block.getUint32((order[i * 2] as number) * 4, true);
      const y = block.getUint32((order[i * 2 + 1] as number) * 4, true);
      v[a] = at(a) + at(b) + x;
      v[d] = rotate(at(d) ^ at(a), 16);
      v[c] = at(c) + at(d);
      v[b] = rotate(at(b) ^ at(c), 12);
      v[a] = at(a) + at(b) + y;
      v[d] = rotate(at(d) ^ at(a), 8);
      v[c] = at(c) + at(d);
      v[b] = rotate(at(b) ^ at(c), 7);
    }
  }
  for (let i = 0; i < 8; i++) state[i] = (state[i] as number) ^ at(i) ^ at(i + 8);
};

const joined = (parts: readonly Uint8Array[]): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

/** Hash of the parts one after another. */
export const blake2s = (
  parts: readonly Uint8Array[],
  { key = new Uint8Array(0), length = 32 }: { key?: Uint8Array; length?: number } = {},
): Uint8Array => {
  const keyBlock = key.length === 0 ? [] : [joined([key, new Uint8Array(blockBytes - key.length)])];
  const bytes = joined([...keyBlock, ...parts]);
  const state = initial.slice();
  state[0] = (state[0] as number) ^ 0x01010000 ^ (key.length << 8) ^ length;
  const block = new Uint8Array(blockBytes);
  const view = new DataView(block.buffer);
  for (let start = 0; ; start += blockBytes) {
    const end = Math.min(start + blockBytes, bytes.length);
    const isLast = end === bytes.length;
    block.fill(0);
    block.set(bytes.subarray(start, end));
    compress(state, view, end, isLast);
    if (isLast) break;
  }
  const out = new Uint8Array(32);
  const outView = new DataView(out.buffer);
  for (const [i, word] of state.entries()) outView.setUint32(i * 4, word, true);
  return out.subarray(0, length);
};

/** HMAC (RFC 2104) of BLAKE2s. */
export const hmacBlake2s = (key: Uint8Array, ...parts: Uint8Array[]): Uint8Array => {
  const padded = joined([key, new Uint8Array(blockBytes - key.length)]);
  const inner = blake2s([padded.map((byte) => byte ^ 0x36), ...parts]);
  return blake2s([padded.map((byte) => byte ^ 0x5c), inner]);
};

/** HKDF with an empty info: `count` keys of 32 bytes. */
export const deriveKeys = (chaining: Uint8Array, input: Uint8Array, count: number): Uint8Array[] => {
  const secret = hmacBlake2s(chaining, input);
  const keys: Uint8Array[] = [];
  let last = new Uint8Array(0);
  for (let i = 1; i <= count; i++) {
    last = Uint8Array.from(hmacBlake2s(secret, last, Uint8Array.of(i)));
    keys.push(last);
  }
  return keys;
};
