import type { ResultRow } from '@rushhour/protocol';
import type { NeighbourRow, ProtocolInstance } from './router.ts';

/** What the table last said about a neighbour. */
interface Known {
  readonly index: number;
  row: NeighbourRow;
}

/**
 * The table of neighbours. Row i is that of protocol instance i with its first neighbour; further neighbours on a network
 * get rows after those of all instances, in the order they appear. A neighbour keeps its row when it is gone.
 */
export class NeighbourTable {
  readonly #instances: readonly ProtocolInstance[];
  readonly #putRow: (row: ResultRow) => void;
  /** Of each instance, by name of the neighbour. */
  readonly #known: readonly Map<string, Known>[];
  /** The instance of each row. */
  readonly #owners: number[];

  constructor(instances: readonly ProtocolInstance[], putRow: (row: ResultRow) => void) {
    this.#instances = instances;
    this.#putRow = putRow;
    this.#known = instances.map(() => new Map());
    this.#owners = instances.map((_, index) => index);
  }

  get size(): number {
    return this.#owners.length;
  }

  /** The instances of rows [from, to], each once. */
  instancesAt(from: number, to: number): ProtocolInstance[] {
    const owners = new Set(this.#owners.slice(from, to + 1));
    return [...owners].map((owner) => this.#instances[owner] as ProtocolInstance);
  }

  /** Reports what has changed among the neighbours of each instance; `isAll`: everything, with the time they have been up. */
  report(neighbours: readonly (readonly NeighbourRow[])[], isAll: boolean): void {
    neighbours.forEach((all, owner) => {
      const rows = rowsByName(all);
      const known = this.#known[owner] as Map<string, Known>;
      if (known.size > 0) this.#markGone(known, rows);
      for (const row of rows.values()) this.#put(known, owner, row, isAll);
    });
  }

  /** Neighbours that an instance no longer has are down, and it always has one. */
  #markGone(known: ReadonlyMap<string, Known>, rows: Map<string, NeighbourRow>): void {
    const none = rows.get('');
    if (!known.has('')) rows.delete('');
    for (const [neighbour, { row }] of known) {
      if (neighbour === '' || rows.has(neighbour)) continue;
      rows.set(neighbour, { ...row, ...none, neighbour, state: 'down', isUp: false, uptimeMs: 0 });
    }
  }

  #put(known: Map<string, Known>, owner: number, row: NeighbourRow, isAll: boolean): void {
    const own = known.get(row.neighbour);
    if (!isAll && own !== undefined && isSame(own.row, row)) return;
    const { index } = own ?? this.#add(known, owner, row);
    if (own !== undefined) own.row = row;
    this.#putRow({ index, state: row.state, cells: cellsOf(row) });
  }

  /** The first neighbour takes over the row that has said that there is none. */
  #add(known: Map<string, Known>, owner: number, row: NeighbourRow): Known {
    known.delete('');
    const index = known.size === 0 ? owner : this.#owners.push(owner) - 1;
    const added = { index, row };
    known.set(row.neighbour, added);
    return added;
  }
}

/** Uptimes grow by themselves: they are no change. Thousands of neighbours are compared several times a second. */
const isSame = (one: NeighbourRow, other: NeighbourRow): boolean =>
  one.state === other.state &&
  one.isUp === other.isUp &&
  one.flaps === other.flaps &&
  one.routesSent === other.routesSent &&
  one.routesReceived === other.routesReceived &&
  one.databaseSize === other.databaseSize &&
  one.lastError === other.lastError;

/** A neighbour of several levels of IS-IS is as well as the worst of them. */
const rowsByName = (all: readonly NeighbourRow[]): Map<string, NeighbourRow> => {
  const rows = new Map<string, NeighbourRow>();
  for (const row of all) if (rows.get(row.neighbour)?.isUp !== false) rows.set(row.neighbour, row);
  return rows;
};

const cellsOf = ({ state: _, isUp, uptimeMs, ...row }: NeighbourRow): ResultRow['cells'] => ({
  ...row,
  uptimeSec: isUp ? Math.round(uptimeMs / 1000) : 0,
});
