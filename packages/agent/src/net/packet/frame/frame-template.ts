import { sumOf } from '@rushhour/pcap/checksum';
import { type Layer, lengthOf, type PlacedLayer, writeLayers } from './layer.ts';
import { signatureBytes, writeSender } from './signature.ts';
import { type TransportSum, transportSumOf } from './transport-layers.ts';

/** A header field that differs from frame to frame: 16 or 32 bits at an even offset. */
export interface HeaderField {
  readonly at: number;
  readonly words: 1 | 2;
  readonly isInIpSum: boolean;
  readonly isInTransportSum: boolean;
}

export interface FrameTemplateOptions {
  readonly layers: readonly Layer[];
  /** Without the frame check sequence. */
  readonly bytes: number;
  /** Repeated between headers and signature. */
  readonly fill: Uint8Array;
  readonly sender: number;
  readonly fieldsOf: (placed: readonly PlacedLayer[]) => readonly HeaderField[];
}

/** Minimum frame size for these headers. */
export const minFrameBytes = (layers: readonly Layer[]): number => lengthOf(layers) + signatureBytes;

/**
 * A frame whose variable fields are 0, and the checksum sums of all the rest, so that checksums can be computed from
 * the variable fields alone.
 */
export class FrameTemplate {
  readonly bytes: Buffer;
  readonly fields: readonly HeaderField[];
  /** Sum of the IPv4 header and offset of its checksum; −1 without one. */
  readonly ipSum: number;
  readonly ipChecksumAt: number;
  /** The transport checksum, if there is one. */
  readonly transport: TransportSum | undefined;

  constructor({ layers, bytes, fill, sender, fieldsOf }: FrameTemplateOptions) {
    if (bytes < minFrameBytes(layers))
      throw new RangeError(`headers and signature need ${minFrameBytes(layers)} bytes`);
    const frame = Buffer.alloc(bytes);
    frame.fill(fill, lengthOf(layers));
    writeSender(frame, sender);
    const placed = writeLayers(frame, layers);
    this.fields = fieldsOf(placed);
    for (const { at, words } of this.fields) frame.fill(0, at, at + words * 2);
    const ip = placed.findLast(({ layer }) => layer.kind === 'ipv4');
    this.ipChecksumAt = ip === undefined ? -1 : ip.at + 10;
    if (ip !== undefined) frame.writeUInt16BE(0, ip.at + 10);
    this.ipSum = ip === undefined ? 0 : sumOf(frame, ip.at, ip.at + 20);
    this.transport = transportSumOf(frame, placed);
    this.bytes = frame;
  }
}

/** Swaps the bytes of 16 bits: between network and host byte order. */
export const swap16 = (value: number): number => ((value & 0xff) << 8) | (value >>> 8);
