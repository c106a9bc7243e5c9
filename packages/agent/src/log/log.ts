import type { LogLine } from '@rushhour/protocol';

export type Level = LogLine['level'];
export type LogSink = (line: LogLine) => void;

const rank: Record<Level, number> = { debug: 0, info: 1, warn: 2, error: 3 };

export const isAtLeast = (level: Level, least: Level): boolean => rank[level] >= rank[least];

/** Writes lines to everybody who wants them. No line may hold a secret or the configuration of a job. */
export class Log {
  readonly #sinks: readonly LogSink[];
  readonly #about: { readonly source: string; readonly runId?: number };

  constructor(sinks: readonly LogSink[], about: { source: string; runId?: number } = { source: 'agent' }) {
    this.#sinks = sinks;
    this.#about = about;
  }

  /** The same log for another part of the agent. */
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
    const line: LogLine = { ts: Date.now(), level, message, ...this.#about };
    for (const sink of this.#sinks) sink(line);
  }
}

/** For people: time, level, source, message. */
export const printTo =
  (stream: NodeJS.WritableStream, least: Level): LogSink =>
  (line) => {
    if (!isAtLeast(line.level, least)) return;
    const about = line.runId === undefined ? line.source : `${line.source} run ${line.runId}`;
    stream.write(`${new Date(line.ts).toISOString()} ${line.level.padEnd(5)} ${about}: ${line.message}\n`);
  };
