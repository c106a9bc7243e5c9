import type { LogLine } from '@rushhour/protocol';
import type { Logger } from 'pino';
import { keepLogs, type StoredLine } from '../../store/agents/agent-logs.ts';
import type { Executor } from '../../store/engine/database.ts';
import { runAgentsOf } from '../../store/runs/run-agents.ts';
import type { WriteBatch } from './write-batch.ts';

const flushMs = 1000;
const maxSourceLength = 128;
const maxMessageLength = 8192;
/** Lines of one agent between two writes; what goes beyond is counted and dropped. */
const maxLines = 1000;
const latestMs = 8_640_000_000_000_000;

/** PostgreSQL keeps no NUL in a text. */
const clean = (text: string, length: number) => text.replaceAll('\0', '').slice(0, length);

export const storedLine = (agentID: number, { ts, level, source, message, runId }: LogLine): StoredLine => ({
  agentID,
  runID: runId ?? null,
  ts: Math.trunc(Math.min(Math.max(ts, 0), latestMs)),
  level,
  source: clean(source, maxSourceLength),
  message: clean(message, maxMessageLength),
});

const maxKnown = 10_000;

/** Whether a line is about no run or about one that the agent takes part in. */
const createRunCheck = (read: Executor) => {
  const known = new Set<string>();
  return async ({ agentID, runID }: StoredLine): Promise<boolean> => {
    const pair = `${runID} ${agentID}`;
    if (runID === null || known.has(pair)) return true;
    if (!(await runAgentsOf(read, runID)).some((agent) => agent.agentID === agentID)) return false;
    if (known.size >= maxKnown) known.clear();
    known.add(pair);
    return true;
  };
};

/** The lines without those about runs of others. Each run is looked up once. */
const ownLines = async (lines: readonly StoredLine[], isOwn: (line: StoredLine) => Promise<boolean>) => {
  const judged = new Map<string, boolean>();
  const own: StoredLine[] = [];
  for (const line of lines) {
    const pair = `${line.runID} ${line.agentID}`;
    if (!judged.has(pair)) judged.set(pair, await isOwn(line));
    if (judged.get(pair)) own.push(line);
  }
  return own;
};

interface Deps {
  batch: WriteBatch;
  read: Executor;
  log: Logger;
}

/** Collects what agents log and writes it once a second for all of them. */
export const createLogBook = ({ batch, read, log }: Deps) => {
  const isOwn = createRunCheck(read);
  let waiting = new Map<number, { lines: StoredLine[]; dropped: number }>();

  const flush = async () => {
    if (waiting.size === 0) return;
    const taken = waiting;
    waiting = new Map();
    const lines = [...taken].flatMap(([agentID, { lines, dropped }]) =>
      dropped === 0 ? lines : [...lines, droppedLine(agentID, dropped)],
    );
    await ownLines(lines, isOwn)
      .then((own) => {
        if (own.length < lines.length) log.warn({ lines: lines.length - own.length }, 'log lines about runs of others');
        return batch.write((tx) => keepLogs(tx, own));
      })
      .catch((error) => log.error({ err: error, lines: lines.length }, 'log lines of agents were not written'));
  };
  const timer = setInterval(() => void flush(), flushMs);

  return {
    add: (agentID: number, lines: readonly LogLine[]) => {
      const own = waiting.get(agentID) ?? { lines: [], dropped: 0 };
      waiting.set(agentID, own);
      const taken = lines.slice(0, Math.max(0, maxLines - own.lines.length));
      own.lines.push(...taken.map((line) => storedLine(agentID, line)));
      own.dropped += lines.length - taken.length;
    },
    close: async () => {
      clearInterval(timer);
      await flush();
    },
  };
};

const droppedLine = (agentID: number, dropped: number) =>
  storedLine(agentID, {
    ts: Date.now(),
    level: 'warn',
    source: 'controller',
    message: `${dropped} lines were dropped: too many at once`,
  });

export type LogBook = ReturnType<typeof createLogBook>;
