import { addToCell, type Cell, type CellContext, createCell } from '../ingest/cell.ts';
import type { Second } from '../ingest/second.ts';

const secondsOfMinute = 60;
/** Minutes since the common start, from 0; second 1 is the first of minute 0. */
export const minuteOf = (second: number) => Math.floor((second - 1) / secondsOfMinute);
export const firstOfMinute = (minute: number) => minute * secondsOfMinute + 1;
export const lastOfMinute = (minute: number) => (minute + 1) * secondsOfMinute;

type Cells = Map<number, Cell>;

/** The seconds of a run, merged over its agents, that are not stored in this form yet: by minute, side and second. */
export class MergedMinutes {
  readonly #minutes = new Map<number, Map<number, Cells>>();

  get minutes(): number[] {
    return [...this.#minutes.keys()].sort((a, b) => a - b);
  }

  has(minute: number): boolean {
    return this.#minutes.has(minute);
  }

  /** Seconds of one side in one minute, in order. */
  sidesOf(minute: number): { group: number; seconds: [number, Cell][] }[] {
    return [...(this.#minutes.get(minute) ?? [])].map(([group, cells]) => ({
      group,
      seconds: [...cells].sort(([a], [b]) => a - b),
    }));
  }

  add(group: number, second: number, given: Second, context: CellContext): Cell {
    const cells = this.#cellsOf(minuteOf(second), group);
    let cell = cells.get(second);
    if (cell === undefined) {
      cell = createCell(given.phase);
      cells.set(second, cell);
    }
    addToCell(cell, given, context);
    return cell;
  }

  put(group: number, second: number, cell: Cell): void {
    this.#cellsOf(minuteOf(second), group).set(second, cell);
  }

  drop(minute: number): void {
    this.#minutes.delete(minute);
  }

  #cellsOf(minute: number, group: number): Cells {
    let sides = this.#minutes.get(minute);
    if (sides === undefined) {
      sides = new Map();
      this.#minutes.set(minute, sides);
    }
    let cells = sides.get(group);
    if (cells === undefined) {
      cells = new Map();
      sides.set(group, cells);
    }
    return cells;
  }
}
