import { sumOf } from '@rushhour/pcap/checksum';
import { type Layer, lengthOf, type PlacedLayer, writeLayers } from './layer.ts';
import { signatureBytes, writeSender } from './signature.ts';
import { type TransportSum, transportSumOf } from './transport-layers.ts';

/** Something in a header that differs from frame to frame: 16 or 32 bits at an even place. */
export interface FieldPlace {
  readonly at: number;
  readonly words: 1 | 2;
  readonly isInIpSum: boolean;
  readonly isInTransportSum: boolean;
}

export interface TemplateWish {
  readonly layers: readonly Layer[];
  /** Without the check sequence that the card puts at the end. */
  readonly bytes: number;
  /** What stands between headers and signature, repeated. */
  readonly fill: Uint8Array;
  readonly sender: number;
  readonly fieldsOf: (placed: readonly PlacedLayer[]) => readonly FieldPlace[];
}

/** Fewest bytes a frame needs for these headers. */
export const leastBytes = (layers: readonly Layer[]): number => lengthOf(layers) + signatureBytes;

/** A frame whose changing parts are 0, and sums of all the rest, so that checksums follow from what changes alone. */
export class FrameTemplate {
  readonly bytes: Buffer;
  readonly fields: readonly FieldPlace[];
  /** Of what an IPv4 checksum covers, and where it stands; −1 without one. */
  readonly ipSum: number;
  readonly ipChecksumAt: number;
  /** The checksum that covers the rest of the frame, where there is one. */
  readonly transport: TransportSum | undefined;

  constructor({ layers, bytes, fill, sender, fieldsOf }: TemplateWish) {
    if (bytes < leastBytes(layers)) throw new RangeError(`headers and signature need ${leastBytes(layers)} bytes`);
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

/** Between the order of bytes in frames and that of this machine, for 16 bits. */
export const swap16 = (value: number): number => ((value & 0xff) << 8) | (value >>> 8);
