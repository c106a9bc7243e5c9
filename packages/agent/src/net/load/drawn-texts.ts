import { createDraw, type DictionaryDraft, type Draw } from '@rushhour/pools';
import { type DrawnText, type JourneySystemValue, journeySystemValues, journeyTemplateOf } from '@rushhour/protocol';
import { systemValue } from './system-value.ts';

type Part = (row: readonly string[], position: { user: number; iteration: number }) => string;

const partOf = (name: string, columns: readonly string[]): Part => {
  if (journeySystemValues.some((known) => known === name)) {
    return (_, position) => systemValue(name as JourneySystemValue, position);
  }
  const column = columns.indexOf(name);
  if (column < 0) throw new RangeError(`the dictionary has no column "${name}"`);
  return (row) => row[column] ?? '';
};

/** Texts of a dictionary for the users of a client, each with a position of its own. */
export class DrawnTexts {
  readonly #draw: Draw;
  readonly #firstUser: number;
  readonly #texts: readonly string[];
  readonly #parts: readonly Part[];
  readonly #drawn: Float64Array;
  #spent = 0;

  /** `users`: of this client. */
  constructor({ dictionary, text, seed, firstUser, users, agentIndex, agentCount }: DrawnText, ownUsers: number) {
    this.#draw = createDraw(dictionary as DictionaryDraft, { seed, users, agentIndex, agentCount });
    this.#firstUser = firstUser;
    this.#drawn = new Float64Array(ownUsers);
    const { texts, names } =
      text === '' ? { texts: ['', ''], names: [this.#draw.columns[0] ?? ''] } : journeyTemplateOf(text);
    this.#texts = texts;
    this.#parts = names.map((name) => partOf(name, this.#draw.columns));
  }

  /** All users have had their last row. */
  get areSpent(): boolean {
    return this.#spent === this.#drawn.length;
  }

  /** Undefined after the last row of the user. */
  next(user: number): string | undefined {
    const iteration = this.#drawn[user] as number;
    if (iteration < 0) return undefined;
    const position = { user: this.#firstUser + user, iteration };
    const row = this.#draw.row({ ...position, request: 0 });
    if (row === undefined) {
      this.#drawn[user] = -1;
      this.#spent++;
      return undefined;
    }
    this.#drawn[user] = iteration + 1;
    let text = this.#texts[0] ?? '';
    for (let i = 0; i < this.#parts.length; i++) text += `${this.#parts[i]?.(row, position)}${this.#texts[i + 1]}`;
    return text;
  }

  /** Bytes of a text on average, estimated without drawing for a user. */
  meanBytes(): number {
    const samples = 100;
    let bytes = 0;
    for (let iteration = 0; iteration < samples; iteration++) {
      const position = { user: this.#firstUser, iteration };
      const row = this.#draw.row({ ...position, request: 0 }) ?? [];
      bytes += this.#texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      for (const part of this.#parts) bytes += Buffer.byteLength(part(row, position));
    }
    return Math.max(1, bytes / samples);
  }
}
