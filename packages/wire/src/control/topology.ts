/** Shapes of a generated network of routers. */
export type TopologyKind = 'none' | 'grid' | 'ring' | 'tree' | 'mesh' | 'random';

export interface TopologyOptions {
  readonly kind: TopologyKind;
  readonly nodes: number;
  /** Links of each node, for `random`. */
  readonly degree: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

const gridLinks = (nodes: number): [number, number][] => {
  const width = Math.ceil(Math.sqrt(nodes));
  const links: [number, number][] = [];
  for (let node = 0; node < nodes; node++) {
    if ((node + 1) % width !== 0 && node + 1 < nodes) links.push([node, node + 1]);
    if (node + width < nodes) links.push([node, node + width]);
  }
  return links;
};

const chain = (nodes: number): [number, number][] =>
  Array.from({ length: Math.max(nodes - 1, 0) }, (_, node) => [node, node + 1]);

const randomLinks = ({ nodes, degree, random }: TopologyOptions): [number, number][] => {
  // A chain keeps everything connected; the rest is chosen at random.
  const links = chain(nodes);
  const known = new Set(links.map(([a, b]) => a * nodes + b));
  for (let extra = Math.floor((nodes * degree) / 2) - links.length; extra > 0; extra--) {
    const a = Math.floor(random() * nodes);
    const b = Math.floor(random() * nodes);
    const key = Math.min(a, b) * nodes + Math.max(a, b);
    if (a === b || known.has(key)) continue;
    known.add(key);
    links.push([Math.min(a, b), Math.max(a, b)]);
  }
  return links;
};

const meshLinks = (nodes: number): [number, number][] => {
  const links: [number, number][] = [];
  for (let a = 0; a < nodes; a++) for (let b = a + 1; b < nodes; b++) links.push([a, b]);
  return links;
};

const shapes: Readonly<Record<TopologyKind, (options: TopologyOptions) => [number, number][]>> = {
  none: () => [],
  grid: ({ nodes }) => gridLinks(nodes),
  ring: ({ nodes }) => (nodes > 2 ? [...chain(nodes), [nodes - 1, 0]] : chain(nodes)),
  tree: ({ nodes }) => Array.from({ length: Math.max(nodes - 1, 0) }, (_, node) => [node >> 1, node + 1]),
  mesh: ({ nodes }) => meshLinks(nodes),
  random: randomLinks,
};

/** Neighbours of each node of a generated network; node 0 is next to the emulated router. */
export const createTopology = (options: TopologyOptions): readonly (readonly number[])[] => {
  const nodes = options.kind === 'none' ? 0 : options.nodes;
  const neighbours: number[][] = Array.from({ length: nodes }, () => []);
  for (const [a, b] of shapes[options.kind](options)) {
    neighbours[a]?.push(b);
    neighbours[b]?.push(a);
  }
  return neighbours;
};
