import { type Content, scan, scanBytes } from '../content.ts';
import type { PreviewWindow } from './window.ts';

export interface PacketRow {
  readonly n: number;
  readonly relTimeMs: number;
  readonly src: string;
  readonly dst: string;
  readonly proto: string;
  readonly length: number;
  readonly info: string;
}

/** Reads a capture only as far as the rows need; refuses a filter it does not understand. */
export type ListPackets = (
  source: AsyncIterable<Uint8Array>,
  selection: PreviewWindow & { readonly filter?: string },
) => Promise<{ rows: PacketRow[]; hasMore: boolean }>;

export interface PacketPreview {
  readonly kind: 'pcap';
  readonly rows: PacketRow[];
  readonly hasMore: boolean;
}

export const previewPackets = async (
  content: Content,
  { filter, ...window }: PreviewWindow & { readonly filter?: string | undefined },
  listPackets: ListPackets,
): Promise<PacketPreview> => {
  const { rows, hasMore } = await listPackets(scan(content), filter === undefined ? window : { ...window, filter });
  return { kind: 'pcap', rows, hasMore: hasMore || (rows.length < window.limit && content.size > scanBytes) };
};
