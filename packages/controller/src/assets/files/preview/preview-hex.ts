import type { Content } from '../content.ts';
import type { PreviewWindow } from './window.ts';

export interface HexRow {
  readonly offset: number;
  readonly hex: string;
  /** Printable ASCII; everything else is a point. */
  readonly text: string;
}

export interface HexPreview {
  readonly kind: 'hex';
  readonly rows: HexRow[];
  readonly hasMore: boolean;
}

const rowBytes = 16;

/** Sixteen bytes a row; `start` counts rows. Only the bytes shown are read. */
export const previewHex = async (content: Content, { start, limit }: PreviewWindow): Promise<HexPreview> => {
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
