/** Bytes that mean something: a found text, the place of a parameter. */
export interface Mark {
  readonly offset: number;
  readonly length: number;
  readonly label: string;
}

interface Segment {
  readonly start: number;
  readonly text: string;
  readonly mark?: Mark;
}

export interface Line {
  readonly start: number;
  readonly segments: readonly Segment[];
}

const longestLine = 120;
const bytesOfHexLine = 16;
const [lineFeed, carriageReturn, tab] = [0x0a, 0x0d, 0x09];
const signs = new Map([
  [lineFeed, '↵'],
  [carriageReturn, '←'],
  [tab, '→'],
]);

/** Exactly one character for each byte, so that places in the text are places in the bytes. */
const characterOf = (byte: number): string =>
  signs.get(byte) ?? (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·');

/** Always three characters for each byte. */
const hexOf = (byte: number): string => `${byte.toString(16).padStart(2, '0')} `;

/** How many characters stand for one byte. */
export const widthOf = { text: 1, hex: 3 } as const;

export const linesOf = (bytes: Uint8Array, marks: readonly Mark[], form: 'text' | 'hex'): Line[] => {
  const lines: Line[] = [];
  let start = 0;
  while (start < bytes.length) {
    const end = endOfLine(bytes, start, form);
    lines.push({ start, segments: segmentsOf(bytes, start, end, marks, form === 'hex' ? hexOf : characterOf) });
    start = end;
  }
  return lines;
};

const endOfLine = (bytes: Uint8Array, start: number, form: 'text' | 'hex') => {
  const longest = Math.min(bytes.length, start + (form === 'hex' ? bytesOfHexLine : longestLine));
  if (form === 'hex') return longest;
  const feed = bytes.subarray(start, longest).indexOf(lineFeed);
  return feed === -1 ? longest : start + feed + 1;
};

const segmentsOf = (
  bytes: Uint8Array,
  start: number,
  end: number,
  marks: readonly Mark[],
  write: (byte: number) => string,
): Segment[] => {
  const markAt = (at: number) => marks.find(({ offset, length }) => at >= offset && at < offset + length);
  const segments: Segment[] = [];
  let from = start;
  for (let at = start; at < end; at += 1) {
    const mark = markAt(at);
    if (at + 1 < end && markAt(at + 1) === mark) continue;
    const text = Array.from(bytes.subarray(from, at + 1), write).join('');
    segments.push({ start: from, text, ...(mark && { mark }) });
    from = at + 1;
  }
  return segments;
};

/** The bytes that a stretch of characters stands for, whole bytes always. */
export const bytesBetween = (from: number, to: number, form: 'text' | 'hex') => {
  const width = widthOf[form];
  const offset = Math.floor(from / width);
  return { offset, length: Math.max(0, Math.ceil(to / width) - offset) };
};

export const bytesFromBase64 = (text: string): Uint8Array =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
