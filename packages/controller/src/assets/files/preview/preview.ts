import type { Content } from '../content.ts';
import type { Kind } from '../upload/signature.ts';
import { type ArchivePreview, type ArchiveSource, previewArchive } from './preview-archive.ts';
import { type CsvPreview, previewCsv } from './preview-csv.ts';
import { type HarPreview, previewHar } from './preview-har.ts';
import { type HexPreview, previewHex } from './preview-hex.ts';
import { type ListPackets, type PacketPreview, previewPackets } from './preview-packets.ts';
import { previewText, type TextPreview } from './preview-text.ts';
import type { PreviewWindow } from './window.ts';

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

/** A bounded look at content by its kind; however hostile it is, little is read and little is answered. */
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
