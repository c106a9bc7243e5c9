import type { LogLine } from '@rushhour/protocol';
import type { Logger } from 'pino';
import { keepLogs, type StoredLine } from '../../store/agents/agent-logs.ts';
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

/** Collects what agents log and writes it once a second for all of them. */
export const createLogBook = (batch: WriteBatch, log: Logger) => {
  let waiting = new Map<number, { lines: StoredLine[]; dropped: number }>();

  const flush = async () => {
    if (waiting.size === 0) return;
    const taken = waiting;
    waiting = new Map();
    const lines = [...taken].flatMap(([agentID, { lines, dropped }]) =>
      dropped === 0 ? lines : [...lines, droppedLine(agentID, dropped)],
    );
    await batch
      .write((tx) => keepLogs(tx, lines))
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
