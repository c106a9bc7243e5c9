import { packetRows } from '@rushhour/pcap';
import type { FileRow } from '../../../store/assets/files.ts';
import type { Blobs } from '../../../store/blobs/blobs.ts';
import { ArchiveError } from '../../archives/archive-error.ts';
import { openArchive } from '../../archives/open-archive.ts';
import { type Content, headOf, scan, scanBytes, storedContent } from '../content.ts';
import type { Kind } from '../upload/magic-bytes.ts';
import { type CsvPreview, previewCsv } from './preview-csv.ts';
import { type HarPreview, previewHar } from './preview-har.ts';
import { decodeChunks, findTextEncoding, type TextEncoding } from './text-encoding.ts';
import { createWindow, type PreviewWindow } from './window.ts';

/** Members of a stored archive; a zip that lies in a file of this machine is not copied first. */
async function* membersOf(content: Content, path: string | undefined, name: string) {
  const source = path === undefined ? { stream: await content.read(0, content.size), size: content.size } : { path };
  const archive = await openArchive({ ...source, name });
  try {
    yield* archive.members();
  } finally {
    await archive.close();
  }
}

interface Window {
  start: number;
  limit: number;
  filter?: string | undefined;
}

export const previewFile = async (blobs: Blobs, file: FileRow, window: Window) => {
  const path = file.kind === 'archive' ? await blobs.findPath(file.sha256) : undefined;
  const show = createPreview({
    listPackets: packetRows,
    archives: {
      list: (content) => membersOf(content, path, file.name),
      isRefusal: (error): error is Error => error instanceof ArchiveError,
    },
  });
  return show(storedContent(blobs, file), file.kind as Kind, window);
};

interface TextPreview {
  readonly kind: 'text';
  readonly encoding: TextEncoding;
  readonly lines: string[];
  readonly hasMore: boolean;
}

const lineLetters = 2000;

/** Lines of any length, of which no more than the first letters are ever held. */
async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let line = '';
  const take = (piece: string) => {
    if (line.length <= lineLetters) line += piece.slice(0, lineLetters + 1 - line.length);
  };
  const finish = () => {
    const whole = line.endsWith('\r') ? line.slice(0, -1) : line;
    line = '';
    return whole.length > lineLetters ? `${whole.slice(0, lineLetters)}…` : whole;
  };
  for await (const text of texts) {
    const pieces = text.split('\n');
    for (const piece of pieces.slice(0, -1)) {
      take(piece);
      yield finish();
    }
    take(pieces.at(-1) ?? '');
  }
  if (line !== '') yield finish();
}

export const previewText = async (content: Content, window: PreviewWindow): Promise<TextPreview> => {
  const encoding = findTextEncoding(await headOf(content, 4096)) ?? 'utf-8';
  const wanted = createWindow<string>(window);
  for await (const line of linesOf(decodeChunks(scan(content), encoding))) if (!wanted.add(line)) break;
  return { kind: 'text', encoding, lines: wanted.rows, hasMore: wanted.hasMore() || content.size > scanBytes };
};

/** What is shown of a file in an archive. */
interface ArchiveEntry {
  readonly name: string;
  /** What the archive claims; null where it claims nothing. */
  readonly declaredSize: number | null;
  readonly isEncrypted: boolean;
  readonly modifiedAt: Date | null;
}

/** Walks the members of an archive in order without unpacking them; ends early when the loop over it does. */
type ListArchive = (content: Content) => AsyncIterable<ArchiveEntry>;

interface ArchiveRow {
  readonly name: string;
  readonly size: number | null;
  readonly isEncrypted: boolean;
  readonly modifiedAt: string | null;
}

interface ArchivePreview {
  readonly kind: 'archive';
  readonly members: ArchiveRow[];
  readonly hasMore: boolean;
  /** Why the members end before the archive does. */
  readonly problem?: string;
}

const rowOf = ({ name, declaredSize, isEncrypted, modifiedAt }: ArchiveEntry): ArchiveRow => ({
  name,
  size: declaredSize,
  isEncrypted,
  modifiedAt: modifiedAt && !Number.isNaN(modifiedAt.getTime()) ? modifiedAt.toISOString() : null,
});

/** `isRefusal` distinguishes faults of the archive from bugs. */
interface ArchiveSource {
  readonly list: ListArchive;
  readonly isRefusal: (error: unknown) => error is Error;
}

const previewArchive = async (
  content: Content,
  window: PreviewWindow,
  source: ArchiveSource,
): Promise<ArchivePreview> => {
  const wanted = createWindow<ArchiveRow>(window);
  try {
    for await (const entry of source.list(content)) if (!wanted.add(rowOf(entry))) break;
    return { kind: 'archive', members: wanted.rows, hasMore: wanted.hasMore() };
  } catch (error) {
    if (!source.isRefusal(error)) throw error;
    return { kind: 'archive', members: wanted.rows, hasMore: false, problem: error.message };
  }
};

interface PacketRow {
  readonly n: number;
  readonly relTimeMs: number;
  readonly src: string;
  readonly dst: string;
  readonly proto: string;
  readonly length: number;
  readonly info: string;
}

/** Reads a capture only as far as the rows need; refuses a filter it does not understand. */
type ListPackets = (
  source: AsyncIterable<Uint8Array>,
  selection: PreviewWindow & { readonly filter?: string },
) => Promise<{ rows: PacketRow[]; hasMore: boolean }>;

interface PacketPreview {
  readonly kind: 'pcap';
  readonly rows: PacketRow[];
  readonly hasMore: boolean;
}

const previewPackets = async (
  content: Content,
  { filter, ...window }: PreviewWindow & { readonly filter?: string | undefined },
  listPackets: ListPackets,
): Promise<PacketPreview> => {
  const { rows, hasMore } = await listPackets(scan(content), filter === undefined ? window : { ...window, filter });
  return { kind: 'pcap', rows, hasMore: hasMore || (rows.length < window.limit && content.size > scanBytes) };
};

interface HexRow {
  readonly offset: number;
  readonly hex: string;
  /** Printable ASCII; everything else is a point. */
  readonly text: string;
}

interface HexPreview {
  readonly kind: 'hex';
  readonly rows: HexRow[];
  readonly hasMore: boolean;
}

const rowBytes = 16;

/** Sixteen bytes a row; `start` counts rows. Only the bytes shown are read. */
const previewHex = async (content: Content, { start, limit }: PreviewWindow): Promise<HexPreview> => {
  const from = Math.min(start * rowBytes, content.size);
  const to = Math.min(from + limit * rowBytes, content.size);
  const bytes = Buffer.concat(await (await content.read(from, to)).toArray());
  const rows = Array.from({ length: Math.ceil(bytes.length / rowBytes) }, (_, row): HexRow => {
    const piece = bytes.subarray(row * rowBytes, (row + 1) * rowBytes);
    const text = piece.toString('latin1').replace(/[^\x20-\x7e]/g, '.');
    return { offset: from + row * rowBytes, hex: piece.toString('hex').replace(/..(?!$)/g, '$& '), text };
  });
  return { kind: 'hex', rows, hasMore: to < content.size };
};

export type Preview = PacketPreview | HarPreview | CsvPreview | ArchivePreview | TextPreview | HexPreview;

export interface PreviewRequest extends PreviewWindow {
  /** Captures only. */
  readonly filter?: string | undefined;
}

export interface PreviewSources {
  readonly listPackets: ListPackets;
  readonly archives: ArchiveSource;
}

export type ShowPreview = (content: Content, kind: Kind, request: PreviewRequest) => Promise<Preview>;

export const maxPreviewRows = 200;

/** A bounded preview of content by its kind: the bytes read and the reply are limited, however hostile the content. */
export const createPreview = ({ listPackets, archives }: PreviewSources): ShowPreview => {
  const previewOf: Record<Kind, (content: Content, request: PreviewRequest) => Promise<Preview>> = {
    pcap: (content, request) => previewPackets(content, request, listPackets),
    har: previewHar,
    csv: previewCsv,
    archive: (content, request) => previewArchive(content, request, archives),
    json: previewText,
    text: previewText,
    binary: previewHex,
  };
  return (content, kind, request) =>
    previewOf[kind](content, { ...request, limit: Math.min(request.limit, maxPreviewRows) });
};
