/** Highlighted bytes: a search match or a parameter. */
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

const maxLineBytes = 120;
const hexLineBytes = 16;
const [lineFeed, carriageReturn, tab] = [0x0a, 0x0d, 0x09];
const symbols = new Map([
  [lineFeed, '↵'],
  [carriageReturn, '←'],
  [tab, '→'],
]);

/** Exactly one character per byte, so that offsets in the text are offsets in the bytes. */
const characterOf = (byte: number): string =>
  symbols.get(byte) ?? (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·');

/** Always three characters per byte. */
const hexOf = (byte: number): string => `${byte.toString(16).padStart(2, '0')} `;

/** Characters per byte. */
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
  const limit = Math.min(bytes.length, start + (form === 'hex' ? hexLineBytes : maxLineBytes));
  if (form === 'hex') return limit;
  const feed = bytes.subarray(start, limit).indexOf(lineFeed);
  return feed === -1 ? limit : start + feed + 1;
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

/** The bytes that a range of characters covers, rounded to whole bytes. */
export const bytesBetween = (from: number, to: number, form: 'text' | 'hex') => {
  const width = widthOf[form];
  const offset = Math.floor(from / width);
  return { offset, length: Math.max(0, Math.ceil(to / width) - offset) };
};

export const bytesFromBase64 = (text: string): Uint8Array =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
