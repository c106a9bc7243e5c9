import { createDraw, type DictionaryDraft, type Draw } from '@rushhour/pools';
import { type Journey, type JourneySystemValue, type Journeys, journeySystemValues } from '@rushhour/protocol';
import type { FindVariable } from './template.ts';

/** A dictionary that one journey draws from: its row fills slots. */
export interface DrawnTable {
  /** Position among the dictionaries of the client. */
  readonly table: number;
  readonly draw: Draw;
  /** A row for every request, not for every iteration. */
  readonly isPerRequest: boolean;
  /** Slot of each column that is used, by the position of the column. */
  readonly slots: (readonly [column: number, slot: number])[];
}

/** What the texts of one journey refer to. */
export interface JourneyVariables {
  readonly find: FindVariable;
  readonly tables: readonly DrawnTable[];
  /** Those that texts refer to, by name. */
  readonly used: ReadonlyMap<string, ReturnType<FindVariable>>;
}

const scopeOf = (config: unknown): unknown =>
  (config as Record<string, { scope?: unknown } | undefined> | undefined)?.['$selection']?.scope;

/** Gives every variable a slot. Extracted ones are known to all journeys of a user. */
export class VariableBook {
  readonly #config: Journeys;
  readonly #draws: readonly Draw[];
  readonly #extracted: ReadonlySet<string>;
  readonly #slots = new Map<string, number>();
  /** Values that users begin with, by slot. */
  readonly initial: string[] = [];

  /** `maxRequests`: of one iteration. */
  constructor(config: Journeys, maxRequests: number) {
    const { seed, users, agentIndex, agentCount, journeys } = config;
    this.#config = config;
    this.#extracted = new Set(
      journeys.flatMap(({ steps }) => steps.flatMap(({ extract }) => extract.map(({ variable }) => variable))),
    );
    this.#draws = config.dictionaries.map((dictionary) =>
      createDraw(dictionary as DictionaryDraft, { seed, users, agentIndex, agentCount, requests: maxRequests }),
    );
  }

  slotOf(name: string, initial = ''): number {
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    this.#slots.set(name, this.initial.length);
    return this.initial.push(initial) - 1;
  }

  /** Slots of the system values that texts use. */
  systemSlots(): (readonly [JourneySystemValue, number])[] {
    return journeySystemValues.flatMap((name) => {
      const slot = this.#slots.get(name);
      return slot === undefined ? [] : [[name, slot] as const];
    });
  }

  variablesOf(journey: Journey, index: number): JourneyVariables {
    const tables = journey.dictionaries.map(({ name, id }) => ({ name, ...this.#tableOf(id) }));
    const used = new Map<string, ReturnType<FindVariable>>();
    const findNew: FindVariable = (name) => {
      const [owner = '', ...rest] = name.split('.');
      const table = tables.find((candidate) => candidate.name === owner);
      if (table !== undefined) return { slot: this.#columnSlot(table, rest.join('.'), `${index} ${name}`) };
      const fixed = journey.variables.find((variable) => variable.name === name)?.value;
      if (this.#extracted.has(name)) return { slot: this.slotOf(name, fixed ?? '') };
      return fixed === undefined ? { slot: this.slotOf(name) } : { value: fixed };
    };
    const find: FindVariable = (name) => {
      const found = used.get(name) ?? findNew(name);
      used.set(name, found);
      return found;
    };
    return { find, tables, used };
  }

  #tableOf(id: number): DrawnTable {
    const table = this.#config.dictionaries.findIndex((dictionary) => dictionary.id === id);
    const draw = this.#draws[table];
    if (draw === undefined) throw new RangeError(`dictionary ${id} is missing`);
    return {
      table,
      draw,
      isPerRequest: scopeOf(this.#config.dictionaries[table]?.config) === 'request',
      slots: [],
    };
  }

  #columnSlot({ draw, slots }: DrawnTable, column: string, key: string): number {
    const at = column === '' ? 0 : draw.columns.indexOf(column);
    if (at < 0) throw new RangeError(`the dictionary has no column "${column}"`);
    const slot = this.slotOf(key);
    if (!slots.some(([known]) => known === at)) slots.push([at, slot]);
    return slots.find(([known]) => known === at)?.[1] ?? slot;
  }
}
