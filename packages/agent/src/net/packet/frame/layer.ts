/** A protocol header. It is written when the length of its content is known. */
export interface Layer {
  readonly kind: LayerKind;
  readonly length: number;
  /** Its number in the enclosing header; undefined if it cannot be there. */
  readonly etherType?: number;
  readonly ipProtocol?: number;
  /** `end` is the end of its content, `next` the layer inside it. */
  write(frame: Buffer, at: number, end: number, next: Layer | undefined): void;
}

export type LayerKind =
  | 'ethernet'
  | 'vlan'
  | 'mpls'
  | 'arp'
  | 'ipv4'
  | 'ipv6'
  | 'udp'
  | 'tcp'
  | 'icmp'
  | 'icmp6'
  | 'gre'
  | 'vxlan';

/** A layer and its offset. */
export interface PlacedLayer {
  readonly layer: Layer;
  readonly at: number;
}

export const lengthOf = (layers: readonly Layer[]): number => layers.reduce((sum, { length }) => sum + length, 0);

/** Writes headers, outermost first, into a frame that already holds the payload. Checksums are filled in afterwards. */
export const writeLayers = (frame: Buffer, layers: readonly Layer[]): PlacedLayer[] => {
  const placed: PlacedLayer[] = [];
  let at = 0;
  for (const [index, layer] of layers.entries()) {
    layer.write(frame, at, frame.length, layers[index + 1]);
    placed.push({ layer, at });
    at += layer.length;
  }
  return placed;
};
