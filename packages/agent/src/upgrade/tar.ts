const blockBytes = 512;
const wholeBlocks = (bytes: number) => Math.ceil(bytes / blockBytes) * blockBytes;

export interface TarFile {
  readonly name: string;
  readonly content: Buffer;
  /** Permissions; 0644 by default. */
  readonly mode?: number;
}

export class BadArchive extends Error {}

const textIn = (block: Buffer, start: number, length: number): string => {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
};

const numberIn = (block: Buffer, start: number, length: number): number => {
  const text = textIn(block, start, length).trim();
  if (!/^[0-7]*$/.test(text)) throw new BadArchive('the archive contains an invalid octal number');
  return Number.parseInt(text || '0', 8);
};

const checksumOf = (block: Buffer): number =>
  block.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 32 : byte), 0);

/** The path in a pax header, whose records are `length name=value`. */
const pathIn = (records: string): string | undefined => /^\d+ path=(.*)$/m.exec(records)?.[1];

/** The files of an archive. Throws on anything but files and folders. */
export function* filesIn(tar: Buffer): Generator<TarFile> {
  let longName: string | undefined;
  for (let at = 0; at + blockBytes <= tar.length; ) {
    const block = tar.subarray(at, at + blockBytes);
    if (block.every((byte) => byte === 0)) return;
    if (numberIn(block, 148, 8) !== checksumOf(block)) throw new BadArchive('the archive is damaged');
    const size = numberIn(block, 124, 12);
    const content = tar.subarray(at + blockBytes, at + blockBytes + size);
    if (content.length < size) throw new BadArchive('the archive is truncated');
    at += blockBytes + wholeBlocks(size);
    const prefix = textIn(block, 345, 155);
    const name = longName ?? (prefix === '' ? '' : `${prefix}/`) + textIn(block, 0, 100);
    const kind = String.fromCharCode(block[156] as number);
    longName = undefined;
    if (kind === 'L') longName = textIn(content, 0, content.length);
    else if (kind === 'x') longName = pathIn(content.toString());
    else if (kind === '0' || kind === '\0') yield { name, content };
    else if (kind !== '5' && kind !== 'g') throw new BadArchive(`${name} is neither a file nor a folder`);
  }
}

const headerOf = ({ name, content, mode = 0o644 }: TarFile): Buffer => {
  const block = Buffer.alloc(blockBytes);
  const cut = Buffer.byteLength(name) <= 100 ? -1 : name.indexOf('/', name.length - 100);
  if (Buffer.byteLength(name) > 100 && (cut < 0 || cut > 155)) throw new BadArchive(`the name ${name} is too long`);
  block.write(name.slice(cut + 1), 0);
  block.write(name.slice(0, Math.max(0, cut)), 345);
  block.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  block.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  block.write('00000000000\0', 136);
  block.write('0', 156);
  block.write('ustar\0', 257);
  block.write('00', 263);
  block.write(`${checksumOf(block).toString(8).padStart(6, '0')}\0 `, 148);
  return block;
};

/** An archive of files; deterministic. */
export const tarOf = (files: readonly TarFile[]): Buffer =>
  Buffer.concat([
    ...files.flatMap((file) => [
      headerOf(file),
      file.content,
      Buffer.alloc(wholeBlocks(file.content.length) - file.content.length),
    ]),
    Buffer.alloc(2 * blockBytes),
  ]);
