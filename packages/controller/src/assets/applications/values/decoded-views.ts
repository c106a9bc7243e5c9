export type ValueEncoding = 'plain' | 'url' | 'base64' | 'hex' | 'utf16le';

/** The bytes of a step, or a stretch of them, decoded; one character for each decoded byte. */
export interface DecodedView {
  readonly text: string;
  /** The range of the decoded [start, end) in the step; `exact` when the range holds nothing else. */
  locate(start: number, end: number): { offset: number; length: number; exact: boolean };
}

const base64Run = /[A-Za-z0-9+/_-]{4,}={0,2}/g;
const lineRun = /[ -~]+/g;
const blank = 0x20;
const hexRun = /[0-9A-Fa-f]{4,}/g;
const utf16Run = /(?:[\t-\xff]\0){2,}/g;

/** All decodings of the step in one encoding. Encoded text inside other text may begin at any character. */
export function* viewsOf(encoding: ValueEncoding, bytes: Uint8Array): Generator<DecodedView> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  if (encoding === 'plain') yield plainView(text);
  if (encoding === 'url') yield* urlViews(text);
  if (encoding === 'base64') {
    for (const { 0: run, index } of text.matchAll(base64Run)) {
      for (let phase = 0; phase < 4; phase++) yield base64View(run, index, phase);
    }
  }
  if (encoding === 'hex') {
    for (const { 0: run, index } of text.matchAll(hexRun)) {
      for (let phase = 0; phase < 2; phase++) yield hexView(run, index, phase);
    }
  }
  if (encoding === 'utf16le') for (const { 0: run, index } of text.matchAll(utf16Run)) yield utf16View(run, index);
}

const plainView = (text: string): DecodedView => ({
  text,
  locate: (start, end) => ({ offset: start, length: end - start, exact: true }),
});

function* urlViews(text: string): Generator<DecodedView> {
  yield plainView(text);
  for (const { 0: line, index } of text.matchAll(lineRun)) {
    if (line.includes('%')) yield urlView(line, index, false);
    // In forms a plus sign encodes a space.
    if (line.includes('+')) yield urlView(line, index, true);
  }
}

const urlView = (line: string, lineAt: number, isForm: boolean): DecodedView => {
  const decoded = Buffer.alloc(line.length);
  const offsets = new Uint32Array(line.length + 1);
  let length = 0;
  for (let at = 0; at < line.length; at++) {
    offsets[length] = at;
    const code = line[at] === '%' ? /^[0-9A-Fa-f]{2}$/.exec(line.slice(at + 1, at + 3)) : null;
    if (code) at += 2;
    decoded[length++] = code ? Number.parseInt(code[0], 16) : isForm && line[at] === '+' ? blank : line.charCodeAt(at);
  }
  offsets[length] = line.length;
  const offsetAt = (index: number) => offsets[index] ?? line.length;
  return {
    text: decoded.toString('latin1', 0, length),
    locate: (start, end) => ({
      offset: lineAt + offsetAt(start),
      length: offsetAt(end) - offsetAt(start),
      exact: true,
    }),
  };
};

/** Four characters hold three bytes; `=` at the end belongs to the last of them. */
const base64View = (run: string, runAt: number, phase: number): DecodedView => {
  const text = Buffer.from(run.slice(phase), 'base64').toString('latin1');
  return {
    text,
    locate: (start, end) => {
      const isTail = end === text.length;
      const from = phase + Math.floor((start * 4) / 3);
      const to = isTail ? run.length : phase + Math.ceil((end * 4) / 3);
      return { offset: runAt + from, length: to - from, exact: start % 3 === 0 && (isTail || end % 3 === 0) };
    },
  };
};

const hexView = (run: string, runAt: number, phase: number): DecodedView => ({
  text: Buffer.from(run.slice(phase, run.length - ((run.length - phase) % 2)), 'hex').toString('latin1'),
  locate: (start, end) => ({ offset: runAt + phase + start * 2, length: (end - start) * 2, exact: true }),
});

const utf16View = (run: string, runAt: number): DecodedView => ({
  text: run.replaceAll('\0', ''),
  locate: (start, end) => ({ offset: runAt + start * 2, length: (end - start) * 2, exact: true }),
});
