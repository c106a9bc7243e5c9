import { md5 } from './md5.ts';

const blockBytes = 64;

const keyedMd5 = (block: Uint8Array, pad: number, text: Uint8Array): Uint8Array => {
  const whole = new Uint8Array(blockBytes + text.length);
  for (const [i, byte] of block.entries()) whole[i] = byte ^ pad;
  whole.set(text, blockBytes);
  return md5(whole);
};

/** HMAC with MD5 (RFC 2104). */
export const hmacMd5 = (key: Uint8Array, text: Uint8Array): Uint8Array => {
  const block = new Uint8Array(blockBytes);
  block.set(key.length > blockBytes ? md5(key) : key);
  return keyedMd5(block, 0x5c, keyedMd5(block, 0x36, text));
};
