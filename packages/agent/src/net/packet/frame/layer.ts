/** A header of a frame. It is written once everything inside it has its length. */
export interface Layer {
  readonly kind: LayerKind;
  readonly length: number;
  /** How a layer around it announces it; undefined where it cannot stand there. */
  readonly etherType?: number;
  readonly ipProtocol?: number;
  /** `end` is the end of what it holds, `next` the layer inside it. */
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

/** A layer and where it begins. */
export interface PlacedLayer {
  readonly layer: Layer;
  readonly at: number;
}

export const lengthOf = (layers: readonly Layer[]): number => layers.reduce((sum, { length }) => sum + length, 0);

/** Writes headers from the outermost on into a frame whose payload is there already. Checksums come afterwards. */
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
