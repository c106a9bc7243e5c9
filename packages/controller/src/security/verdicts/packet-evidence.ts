import type { AttackResult } from '@rushhour/contract';
import type { RunDumpRecord } from '../../store/runs/run-dumps.ts';

type Placed = Pick<AttackResult, 'client' | 'startedAt' | 'durationMs'>;
type Dump = Pick<RunDumpRecord, 'id' | 'agentID' | 'state' | 'firstAt' | 'lastAt'>;

const covers = ({ firstAt, lastAt }: Dump, { startedAt, durationMs }: Placed): boolean => {
  if (firstAt === null || lastAt === null) return false;
  const began = Date.parse(startedAt);
  return Date.parse(firstAt) <= began + durationMs && Date.parse(lastAt) >= began;
};

/** Adds to attempts where their packets can be had: dumps of the client's agent, filtered by its address and port. */
export const packetEvidence = (run: { readonly id: number; readonly taskID: number }, dumps: readonly Dump[]) => {
  const ready = dumps.filter(({ state }) => state === 'ready');
  return <Attempt extends Placed>(attempt: Attempt): Attempt & { packets?: string[] } => {
    const { agentID, ip, port } = attempt.client;
    const own = ready.filter((dump) => dump.agentID === agentID && covers(dump, attempt));
    if (own.length === 0 || ip === '' || port === 0) return attempt;
    const filter = new URLSearchParams({ filter: `host ${ip} and port ${port}` });
    return { ...attempt, packets: own.map(({ id }) => `/v1/tasks/${run.taskID}/runs/${run.id}/dumps/${id}?${filter}`) };
  };
};
