/** A domain name in wire format: length-prefixed labels, then a zero byte. Escapes (`\.`, `\065`) as in zone files. */
export const encodeName = (name: string): Buffer => {
  const trimmed = name === '.' ? '' : name.replace(/\.$/, '');
  const labels = trimmed === '' ? [] : (trimmed.match(/(?:\\.|[^.\\])+/g) ?? []);
  if (labels.join('.').length !== trimmed.length) throw new RangeError(`${name} has an empty label`);
  const parts = labels.map((label) => {
    const text = label.replace(/\\(\d{3}|.)/g, (_, escaped: string) =>
      escaped.length === 3 ? String.fromCharCode(Number(escaped)) : escaped,
    );
    const bytes = Buffer.from(text, 'latin1');
    if (bytes.length > 63) throw new RangeError(`${label} is longer than 63 bytes`);
    return Buffer.concat([Buffer.of(bytes.length), bytes]);
  });
  const encoded = Buffer.concat([...parts, Buffer.of(0)]);
  if (encoded.length > 255) throw new RangeError(`${name} is longer than 255 bytes`);
  return encoded;
};

/** Reads a name, following pointers; throws on loops and on names that leave the message. */
export const decodeName = (message: Buffer, start: number): { name: string; end: number } => {
  const labels: string[] = [];
  let at = start;
  let end = -1;
  let bytesLeft = 255;
  for (let jumps = 0; ; ) {
    const length = message[at];
    if (length === undefined) throw new RangeError('a name exceeds the message');
    if (length === 0) return { name: labels.join('.'), end: end < 0 ? at + 1 : end };
    if (length >= 0xc0) {
      if (++jumps > 127) throw new RangeError('a name has a pointer loop');
      if (end < 0) end = at + 2;
      at = ((length & 0x3f) << 8) | (message[at + 1] ?? 0);
      continue;
    }
    bytesLeft -= length + 1;
    if (length > 63 || bytesLeft < 1 || at + 1 + length > message.length) throw new RangeError('a label is too long');
    labels.push(escapeLabel(message.toString('latin1', at + 1, at + 1 + length)));
    at += length + 1;
  }
};

const escapeLabel = (label: string): string =>
  label
    .replace(/[.\\]/g, '\\$&')
    .replace(/[^\x21-\x7e]/g, (character) => `\\${String(character.charCodeAt(0)).padStart(3, '0')}`);
