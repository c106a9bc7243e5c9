import { createDraw, DraftError } from '@rushhour/pools';
import { type DrawnText, journeySystemValues, journeyTemplateOf, type PlayedDictionary } from '@rushhour/protocol';
import type { ClientPart } from '../core/load/traffic.ts';
import type { PlanScope } from '../core/plan-scope.ts';
import { playedTable } from './played-table.ts';

/** A dictionary that agents draw from themselves. */
export interface DrawnTable {
  readonly dictionary: PlayedDictionary;
  readonly columns: readonly string[];
}

/** Undefined for a dictionary that cannot be drawn from, which is reported as an issue. */
export const drawnTable = ({ input, issues }: PlanScope, id: number, at: string): DrawnTable | undefined => {
  const table = input.applications.tables.get(id);
  if (table === undefined) return issues.error(at, 'DICTIONARY_UNKNOWN', `there is no dictionary ${id}`);
  if (table.draft === undefined) return issues.error(at, 'DICTIONARY_UNREADABLE', table.problem ?? 'cannot be read');
  try {
    const { columns, size } = createDraw(table.draft, { seed: '' });
    if (size === 0n) return issues.error(at, 'DICTIONARY_EMPTY', `"${table.name}" has no rows`);
    return { dictionary: playedTable(id, table.draft), columns };
  } catch (error) {
    if (!(error instanceof DraftError) && !(error instanceof RangeError)) throw error;
    return issues.error(at, 'DICTIONARY_UNREADABLE', error.message);
  }
};

/** Texts of a dictionary, the same for all clients. */
export type PlannedText = Pick<DrawnText, 'dictionary' | 'text'>;

interface WrittenText {
  readonly dictionaryId?: number | undefined;
  readonly text?: string | undefined;
}

/** `path`: of the object that names the dictionary. */
export const planDrawnText = (scope: PlanScope, written: WrittenText, path: string): PlannedText | undefined => {
  const { dictionaryId, text = '' } = written;
  const at = `${path}/dictionaryId`;
  if (dictionaryId === undefined) return scope.issues.error(at, 'REQUIRED', 'is required: the payload is a dictionary');
  const table = drawnTable(scope, dictionaryId, at);
  if (table === undefined) return undefined;
  for (const name of journeyTemplateOf(text).names) {
    if (table.columns.includes(name) || journeySystemValues.some((known) => known === name)) continue;
    const message = `the dictionary has no column "${name}"; it has ${table.columns.join(', ')}`;
    scope.issues.error(`${path}/text`, 'VARIABLE_UNKNOWN', message);
  }
  return { dictionary: table.dictionary, text };
};

const seedOf = ({ input, entry }: PlanScope): string => `task ${input.definition.taskId} ${entry.path}`;

/** The texts of one client, whose users are numbered for each agent; agents share the rows of a dictionary. */
export const drawnTextFor = (
  scope: PlanScope,
  planned: PlannedText,
  { position }: ClientPart,
  users: number,
): DrawnText => ({
  ...planned,
  seed: seedOf(scope),
  ...{ firstUser: 0, users, agentIndex: position.index, agentCount: position.count },
});

/** The texts of a server, which are those of one user. */
export const servedText = (scope: PlanScope, planned: PlannedText): DrawnText => ({
  ...planned,
  seed: seedOf(scope),
  ...{ firstUser: 0, users: 1, agentIndex: 0, agentCount: 1 },
});
