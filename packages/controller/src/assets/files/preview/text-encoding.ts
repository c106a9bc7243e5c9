import { isUtf8 } from 'node:buffer';

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

const byteOrderMarks: readonly (readonly [TextEncoding, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** The head without a last character that may be incomplete. */
const withoutTornEnd = (head: Buffer) => {
  for (let back = 1; back <= Math.min(3, head.length); back++) {
    const byte = head[head.length - back] ?? 0;
    if (byte < 0x80) return head;
    if (byte >= 0xc0) return head.subarray(0, head.length - back);
  }
  return head;
};

// Tab, line feed, vertical tab, form feed, carriage return, bell, backspace and escape occur in text; no other control does.
const isControl = (unit: number) => (unit < 0x20 && (unit < 0x07 || unit > 0x0d) && unit !== 0x1b) || unit === 0x7f;

/** Eight-bit text: some ASCII in every language, few bytes in the range of control characters. */
const isEightBitText = (head: Buffer) => {
  const high = head.reduce((count, byte) => count + (byte >= 0x80 ? 1 : 0), 0);
  const odd = head.reduce((count, byte) => count + (byte >= 0x80 && byte < 0xa0 ? 1 : 0), 0);
  return high <= head.length * 0.8 && odd <= head.length * 0.1;
};

/** The text encoding of the beginning of a content; undefined when it is not text. */
export const findTextEncoding = (head: Buffer): TextEncoding | undefined => {
  if (head.length === 0) return undefined;
  const marked = byteOrderMarks.find(([, mark]) => mark.every((byte, at) => head[at] === byte))?.[0];
  if (marked === 'utf-16le' || marked === 'utf-16be') {
    const text = new TextDecoder(marked).decode(head.subarray(0, head.length & ~1));
    return [...text].some((letter) => isControl(letter.codePointAt(0) ?? 0)) ? undefined : marked;
  }
  if (head.some(isControl)) return undefined;
  if (isUtf8(head) || isUtf8(withoutTornEnd(head))) return 'utf-8';
  return isEightBitText(head) ? 'windows-1252' : undefined;
};

/** Decodes chunks whose characters may cross chunk borders; invalid bytes become U+FFFD. */
export async function* decodeChunks(chunks: AsyncIterable<Uint8Array>, encoding: TextEncoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}
