/** The kind of a content, for previews and categories. */
export type Kind = 'pcap' | 'har' | 'csv' | 'archive' | 'json' | 'text' | 'binary';

export interface Sniffed {
  readonly kind: Kind;
  readonly mime: string;
}

interface Signature extends Sniffed {
  readonly matches: (head: Buffer) => boolean;
}

const bytes = (offset: number, hex: string) => {
  const expected = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  return (head: Buffer) => head.subarray(offset, offset + expected.length).equals(expected);
};
const letters = (offset: number, text: string) => bytes(offset, Buffer.from(text, 'latin1').toString('hex'));
const any =
  (...tests: ((head: Buffer) => boolean)[]) =>
  (head: Buffer) =>
    tests.some((test) => test(head));
const all =
  (...tests: ((head: Buffer) => boolean)[]) =>
  (head: Buffer) =>
    tests.every((test) => test(head));

const pcapHeaderBytes = 24;
const isPcap = (head: Buffer) => {
  if (head.length < pcapHeaderBytes) return false;
  const isLittle = any(bytes(0, 'd4c3b2a1'), bytes(0, '4d3cb2a1'))(head);
  const isBig = any(bytes(0, 'a1b2c3d4'), bytes(0, 'a1b23c4d'))(head);
  return (isLittle && head.readUInt16LE(4) === 2) || (isBig && head.readUInt16BE(4) === 2);
};

const tarBlockBytes = 512;
/** A tar header holds the sum of its own bytes, computed with spaces in the sum field; this detects pre-POSIX tars too. */
const isTar = (head: Buffer) => {
  if (head.length < tarBlockBytes) return false;
  const claimed = /^ *([0-7]{1,7})/.exec(head.toString('latin1', 148, 156))?.[1];
  if (claimed === undefined) return false;
  let sum = 8 * 0x20;
  for (let at = 0; at < tarBlockBytes; at++) if (at < 148 || at >= 156) sum += head[at] as number;
  return sum === Number.parseInt(claimed, 8);
};

const binary = (mime: string, matches: Signature['matches']): Signature => ({ kind: 'binary', mime, matches });
const archive = (mime: string, matches: Signature['matches']): Signature => ({ kind: 'archive', mime, matches });

const signatures: readonly Signature[] = [
  { kind: 'pcap', mime: 'application/vnd.tcpdump.pcap', matches: isPcap },
  {
    kind: 'pcap',
    mime: 'application/x-pcapng',
    matches: all(bytes(0, '0a0d0d0a'), any(bytes(8, '1a2b3c4d'), bytes(8, '4d3c2b1a'))),
  },
  archive('application/zip', any(bytes(0, '504b0304'), bytes(0, '504b0506'))),
  archive('application/gzip', bytes(0, '1f8b08')),
  archive('application/x-tar', isTar),
  binary('application/x-7z-compressed', bytes(0, '377abcaf271c')),
  binary('application/x-bzip2', all(letters(0, 'BZh'), any(bytes(4, '314159265359'), bytes(4, '177245385090')))),
  binary('application/x-xz', bytes(0, 'fd377a585a00')),
  binary('application/zstd', bytes(0, '28b52ffd')),
  binary('application/vnd.rar', letters(0, 'Rar!\x1a\x07')),
  binary('application/pdf', letters(0, '%PDF-')),
  binary('image/png', bytes(0, '89504e470d0a1a0a')),
  binary('image/jpeg', bytes(0, 'ffd8ff')),
  binary('image/gif', any(letters(0, 'GIF87a'), letters(0, 'GIF89a'))),
  binary('image/webp', all(letters(0, 'RIFF'), letters(8, 'WEBP'))),
  binary('application/x-elf', bytes(0, '7f454c46')),
  binary(
    'application/vnd.microsoft.portable-executable',
    all(letters(0, 'MZ'), (head) => head.length >= 64),
  ),
  binary('application/x-ole-storage', bytes(0, 'd0cf11e0a1b11ae1')),
  binary('application/vnd.sqlite3', letters(0, 'SQLite format 3\0')),
];

/** Recognizes content by its magic bytes; undefined for text and unknown content. */
export const findSignature = (head: Buffer): Sniffed | undefined => {
  const found = signatures.find(({ matches }) => matches(head));
  return found && { kind: found.kind, mime: found.mime };
};
