import { type ConfigurationEntry, entriesOf, type Rfc2544Result } from '@rushhour/contract';
import { Rfc2544Record } from '@rushhour/protocol';
import { createGuard } from '../../schema-check.ts';
import type { Executor } from '../../store/engine/database.ts';
import { runAgentsOf } from '../../store/runs/run-agents.ts';
import { runRecordsOf } from '../../store/runs/run-attempts.ts';

const isRecord = createGuard<Rfc2544Record>(Rfc2544Record);

type Row = { -readonly [Member in keyof Rfc2544Result]: Rfc2544Result[Member] };

const put = (row: Row, record: Rfc2544Record): void => {
  const { side: _, frameSize: __, ...reported } = record;
  if (reported.kind === 'trial') {
    const { kind: ___, ...trial } = reported;
    row.trials.push(trial);
  } else if (reported.kind === 'frameLoss') {
    const { kind: ___, ...step } = reported;
    row.frameLoss.push(step);
  } else {
    const { kind, ...result } = reported;
    Object.assign(row, { [kind]: result });
  }
};

/** What a sender reported of its trials, gathered by size of frames in the order in which they were tried. */
export const gatherRfc2544 = (configurationIndex: number, reported: readonly unknown[]): Rfc2544Result[] => {
  const rows = new Map<number, Row>();
  for (const record of reported.filter(isRecord)) {
    const { frameSize } = record;
    const row = rows.get(frameSize) ?? { configurationIndex, frameSize, frameLoss: [], trials: [] };
    put(row, record);
    rows.set(frameSize, row);
  }
  return [...rows.values()];
};

const hasTrials = (values: { readonly [member: string]: unknown }): boolean =>
  (values['payload'] as { rfc2544?: unknown } | undefined)?.rfc2544 !== undefined;

/** Undefined for runs that make no such trials; their records may be many, and are not looked at. */
export const readRfc2544 = async (
  read: Executor,
  { id, definition }: { readonly id: number; readonly definition: { readonly configuration: readonly unknown[] } },
): Promise<Rfc2544Result[] | undefined> => {
  const entries = entriesOf(definition.configuration as ConfigurationEntry[]);
  if (!entries.some(({ plugin, values }) => plugin?.name === 'stream' && hasTrials(values))) return undefined;
  const agents = new Map((await runAgentsOf(read, id)).map((agent) => [agent.agentID, agent]));
  const byJob = Map.groupBy(await runRecordsOf(read, id), ({ agentID, orderIndex }) => `${agentID} ${orderIndex}`);
  return [...byJob.values()].flatMap((rows) => {
    const [first] = rows;
    const entry = first && agents.get(first.agentID)?.orders[first.orderIndex]?.entry;
    return gatherRfc2544(
      entry ?? 0,
      rows.flatMap(({ records }) => records),
    );
  });
};
