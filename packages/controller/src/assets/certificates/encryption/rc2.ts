// RFC 2268, decryption only: old PKCS#12 files hide their certificates under RC2, which OpenSSL 3 no longer offers to Node.

const piTable = Buffer.from(
  'd978f9c419ddb5ed28e9fd794aa0d89dc67e37832b76538e624c6488448bfba2' +
    '179a59f587b34f1361456d8d09817d32bd8f40eb86b77b0bf09521225c6b4e82' +
    '54d66593ce60b21c7356c014a78cf1dc1275ca1f3bbee4d1423dd430a33cb626' +
    '6fbf0eda4669075727f21d9bbc944303f811c7f690ef3ee706c3d52fc8661ed7' +
    '08e8eade8052eef784aa72ac354d6a2a961ad2715a1549744b9fd05e0418a4ec' +
    'c2e0416e0f51cbcc2491af50a1f47039997c3a8523b8b47afc02365b25559731' +
    '2d5dfa98e38a92ae05df2910676cbac9d300e6cfe19ea82c6316013f58e289a9' +
    '0d38341bab33ffb0bb480c5fb9b1cd2ec5f3db47e5a59c770aa62068fe7fc1ad',
  'hex',
);

export function decryptRc2Cbc(key: Uint8Array, iv: Uint8Array, data: Uint8Array): Buffer {
  if (data.length === 0 || data.length % 8 !== 0) throw new Error('RC2 data is not whole blocks');
  const schedule = scheduleOf(key);
  const plain = Buffer.alloc(data.length);
  const source = Buffer.from(data);
  let previous = Buffer.from(iv);
  for (let at = 0; at < data.length; at += 8) {
    const block = source.subarray(at, at + 8);
    const opened = decryptBlock(schedule, block);
    for (let i = 0; i < 8; i++) plain[at + i] = byteAt(opened, i) ^ byteAt(previous, i);
    previous = block;
  }
  return withoutPadding(plain);
}

function scheduleOf(key: Uint8Array): Uint16Array {
  const expanded = Buffer.alloc(128);
  expanded.set(key);
  for (let i = key.length; i < 128; i++) {
    expanded[i] = byteAt(piTable, (byteAt(expanded, i - 1) + byteAt(expanded, i - key.length)) & 255);
  }
  // The effective key is as long as the key, as in both PKCS#12 ciphers (40 and 128 bits).
  const length = key.length;
  expanded[128 - length] = byteAt(piTable, byteAt(expanded, 128 - length));
  for (let i = 127 - length; i >= 0; i--) {
    expanded[i] = byteAt(piTable, byteAt(expanded, i + 1) ^ byteAt(expanded, i + length));
  }
  return Uint16Array.from({ length: 64 }, (_, i) => expanded.readUInt16LE(i * 2));
}

function decryptBlock(schedule: Uint16Array, block: Buffer): Buffer {
  const words = [0, 2, 4, 6].map((at) => block.readUInt16LE(at));
  let next = 63;
  for (let round = 15; round >= 0; round--) {
    for (let i = 3; i >= 0; i--) next = unmix(words, i, schedule, next);
    if (round === 11 || round === 5) for (let i = 3; i >= 0; i--) unmash(words, i, schedule);
  }
  const opened = Buffer.alloc(8);
  words.forEach((word, i) => {
    opened.writeUInt16LE(word, i * 2);
  });
  return opened;
}

function unmix(words: number[], i: number, schedule: Uint16Array, next: number): number {
  const rotation = [1, 2, 3, 5][i] ?? 0;
  const word = words[i] ?? 0;
  const turned = ((word >>> rotation) | (word << (16 - rotation))) & 0xffff;
  const [a, b, c] = [wordAt(words, i + 3), wordAt(words, i + 2), wordAt(words, i + 1)];
  words[i] = (turned - (schedule[next] ?? 0) - (a & b) - (~a & c)) & 0xffff;
  return next - 1;
}

function unmash(words: number[], i: number, schedule: Uint16Array): void {
  words[i] = ((words[i] ?? 0) - (schedule[wordAt(words, i + 3) & 63] ?? 0)) & 0xffff;
}

function wordAt(words: readonly number[], i: number): number {
  return words[i % 4] ?? 0;
}

function byteAt(bytes: Uint8Array, i: number): number {
  return bytes[i] ?? 0;
}

function withoutPadding(plain: Buffer): Buffer {
  const length = byteAt(plain, plain.length - 1);
  const padding = plain.subarray(plain.length - length);
  if (length < 1 || length > 8 || padding.some((byte) => byte !== length)) throw new Error('bad RC2 padding');
  return plain.subarray(0, plain.length - length);
}
