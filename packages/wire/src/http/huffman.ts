// The code of RFC 7541, appendix B, is canonical: the lengths of the codes determine them.
const lengths: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26, 30,
];
const endOfString = 256;
const maxLength = 30;

interface CodeTables {
  readonly codes: Uint32Array;
  /** Per length: the first code, and where its symbols begin in `symbols`. */
  readonly firstCodes: Float64Array;
  readonly firstSymbols: Int32Array;
  readonly counts: Int32Array;
  readonly symbols: Int32Array;
}

const createTables = (): CodeTables => {
  const counts = new Int32Array(maxLength + 1);
  for (const length of lengths) counts[length] = (counts[length] as number) + 1;
  const symbols = Int32Array.from([...lengths.keys()].sort((a, b) => (lengths[a] as number) - (lengths[b] as number)));
  const firstCodes = new Float64Array(maxLength + 1);
  const firstSymbols = new Int32Array(maxLength + 1);
  const codes = new Uint32Array(lengths.length);
  let code = 0;
  let at = 0;
  for (let length = 1; length <= maxLength; length++) {
    code *= 2;
    firstCodes[length] = code;
    firstSymbols[length] = at;
    for (let i = 0; i < (counts[length] as number); i++) codes[symbols[at++] as number] = code++;
  }
  return { codes, firstCodes, firstSymbols, counts, symbols };
};

const tables = createTables();

/** Length of the coded text in bytes. */
export const huffmanLength = (text: string): number => {
  let bits = 0;
  for (let i = 0; i < text.length; i++) bits += lengths[text.charCodeAt(i) & 0xff] as number;
  return (bits + 7) >>> 3;
};

/** Writes the coded text, padded with ones; returns the end. */
export const writeHuffman = (text: string, to: Uint8Array, start: number): number => {
  let at = start;
  let pending = 0;
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const symbol = text.charCodeAt(i) & 0xff;
    const length = lengths[symbol] as number;
    let left = length;
    while (left > 0) {
      const take = Math.min(left, 8 - count);
      const bits = Math.floor((tables.codes[symbol] as number) / 2 ** (left - take)) & ((1 << take) - 1);
      pending = (pending << take) | bits;
      count += take;
      left -= take;
      if (count < 8) continue;
      to[at++] = pending;
      pending = 0;
      count = 0;
    }
  }
  if (count > 0) to[at++] = (pending << (8 - count)) | ((1 << (8 - count)) - 1);
  return at;
};

/** The text in bytes [start, end). Throws where the code or its padding is invalid. */
export const readHuffman = (bytes: Uint8Array, start: number, end: number): string => {
  let text = '';
  let code = 0;
  let length = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((byte >>> bit) & 1);
      length++;
      const offset = code - (tables.firstCodes[length] as number);
      if (offset >= 0 && offset < (tables.counts[length] as number)) {
        const symbol = tables.symbols[(tables.firstSymbols[length] as number) + offset] as number;
        if (symbol === endOfString) throw new RangeError('the end symbol is part of the text');
        text += String.fromCharCode(symbol);
        code = 0;
        length = 0;
      } else if (length >= maxLength) throw new RangeError('no such code');
    }
  }
  if (length > 7 || code !== 2 ** length - 1) throw new RangeError('the padding is not a part of the end symbol');
  return text;
};
