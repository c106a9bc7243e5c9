import type { BgpFamily } from './families.ts';
import { eachNlri } from './nlri.ts';
import { AttributeSets, RouteTable } from './route-table.ts';
import type { RouteList, UpdateMessage } from './update.ts';

/** All routes that a neighbour has announced (Adj-RIB-In). */
export class Rib {
  readonly sets = new AttributeSets();
  readonly counters = { announced: 0, withdrawn: 0, malformed: 0 };
  readonly #tables = new Map<string, RouteTable>();

  get count(): number {
    let sum = 0;
    for (const table of this.#tables.values()) sum += table.count;
    return sum;
  }

  get tables(): readonly RouteTable[] {
    return [...this.#tables.values()];
  }

  tableOf(family: BgpFamily): RouteTable {
    const known = this.#tables.get(family.name);
    if (known !== undefined) return known;
    const table = new RouteTable(family, this.sets);
    this.#tables.set(family.name, table);
    return table;
  }

  /** Applies an update. `hasPathIds`: routes of the family carry a path id. */
  apply(update: UpdateMessage, hasPathIds: (family: BgpFamily) => boolean): void {
    for (const list of update.withdrawn) this.#withdraw(list, hasPathIds(list.family));
    if (update.defect !== undefined) {
      this.counters.malformed++;
      for (const list of update.announced) this.#withdraw(list, hasPathIds(list.family));
      return;
    }
    for (const list of update.announced) {
      if (list.start === list.end) continue;
      // NEXT_HOP is among the attributes of plain IPv4 routes.
      const isPlain = list.family.name === 'ipv4-unicast' && list !== update.announced[0];
      const set = this.sets.intern(update.attributes, isPlain ? undefined : update.nextHop);
      this.#announce(list, hasPathIds(list.family), set);
    }
  }

  clear(): void {
    for (const table of this.#tables.values()) table.clear();
  }

  #announce(list: RouteList, hasPathIds: boolean, set: number): void {
    const table = this.tableOf(list.family);
    eachNlri({ family: list.family, hasPathIds }, list, (bytes, at, last, pathId) => {
      this.counters.announced++;
      table.announce({ bytes, at, last, pathId }, set);
    });
  }

  #withdraw(list: RouteList, hasPathIds: boolean): void {
    const table = this.tableOf(list.family);
    eachNlri({ family: list.family, hasPathIds }, list, (bytes, at, last, pathId) => {
      this.counters.withdrawn++;
      table.withdraw({ bytes, at, last, pathId });
    });
  }
}
