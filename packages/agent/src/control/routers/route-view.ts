import type { ResultRow } from '@rushhour/protocol';
import type { ProtocolInstance } from './router.ts';

/** Routes that are listed at once. */
const maxRoutes = 10_000;

interface RouteViewDeps {
  putRow(row: ResultRow): void;
  note(remark: string): void;
}

/**
 * The table of routes. Each protocol instance has rows of its own, so that they can be listed again while the routers
 * run; rows that a shorter list leaves over are marked as gone.
 */
export class RouteView {
  readonly #instances: readonly ProtocolInstance[];
  readonly #deps: RouteViewDeps;
  /** Last rows of each instance. */
  readonly #rows: ResultRow[][];

  constructor(instances: readonly ProtocolInstance[], deps: RouteViewDeps) {
    this.#instances = instances;
    this.#deps = deps;
    this.#rows = instances.map(() => []);
  }

  /** Lists the routes of instances; none of them can take the room of all others. */
  list(chosen: readonly ProtocolInstance[]): void {
    let left = maxRoutes;
    const bySize = chosen
      .map((instance) => ({ instance, routes: instance.routes(maxRoutes) }))
      .sort((a, b) => a.routes.length - b.routes.length);
    for (const [i, { instance, routes }] of bySize.entries()) {
      const share = Math.floor(left / (bySize.length - i));
      const listed = routes.slice(0, share);
      left -= listed.length;
      this.#put(this.#instances.indexOf(instance), listed);
    }
    if (bySize.some(({ routes }) => routes.length >= maxRoutes) || left === 0)
      this.#deps.note(`the table of routes lists ${maxRoutes} at most`);
  }

  #put(owner: number, routes: ReturnType<ProtocolInstance['routes']>): void {
    const rows = routes.map(({ detail, nextHop, isStale = false, ...cells }, i) => ({
      index: owner * maxRoutes + i,
      state: isStale ? 'stale' : 'received',
      cells: { ...cells, nextHop, attributes: detail },
    }));
    for (const row of rows) this.#deps.putRow(row);
    const before = this.#rows[owner] ?? [];
    for (const row of before.slice(rows.length)) this.#deps.putRow({ ...row, state: 'gone' });
    this.#rows[owner] = [...rows, ...before.slice(rows.length)];
  }
}
