import type { LogLine } from '@rushhour/protocol';

export type Level = LogLine['level'];
export type LogSink = (line: LogLine) => void;

const rank: Record<Level, number> = { debug: 0, info: 1, warn: 2, error: 3 };

export const isLoggedAt = (level: Level, minLevel: Level): boolean => rank[level] >= rank[minLevel];

/** The controller keeps no more of a line. */
const maxMessageLength = 8192;

/** Writes lines to all sinks. No line may contain a secret or the configuration of a job. */
export class Log {
  readonly #sinks: readonly LogSink[];
  readonly #about: { readonly source: string; readonly runId?: number };

  constructor(sinks: readonly LogSink[], about: { source: string; runId?: number } = { source: 'agent' }) {
    this.#sinks = sinks;
    this.#about = about;
  }

  /** The same log with another source. */
  of(source: string, runId?: number): Log {
    return new Log(this.#sinks, { source, ...(runId !== undefined && { runId }) });
  }

  debug(message: string): void {
    this.#write('debug', message);
  }
  info(message: string): void {
    this.#write('info', message);
  }
  warn(message: string): void {
    this.#write('warn', message);
  }
  error(message: string): void {
    this.#write('error', message);
  }

  #write(level: Level, message: string): void {
    const text = message.slice(0, maxMessageLength).toWellFormed();
    const line: LogLine = { ts: Date.now(), level, message: text, ...this.#about };
    for (const sink of this.#sinks) sink(line);
  }
}

/** Human-readable: time, level, source, message. */
export const printTo =
  (stream: NodeJS.WritableStream, minLevel: Level): LogSink =>
  (line) => {
    if (!isLoggedAt(line.level, minLevel)) return;
    const about = line.runId === undefined ? line.source : `${line.source} run ${line.runId}`;
    stream.write(`${new Date(line.ts).toISOString()} ${line.level.padEnd(5)} ${about}: ${line.message}\n`);
  };
