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

const readable = ({ ts, level, source, runId, message }: LogLine) =>
  `${new Date(ts).toISOString()} ${level.padEnd(5)} ${runId === undefined ? source : `${source} run ${runId}`}: ${message}`;

/** The format of the controller: time in ISO 8601, level by name, source and message. */
const json = ({ ts, level, message, ...about }: LogLine) =>
  JSON.stringify({ level, time: new Date(ts).toISOString(), ...about, message });

/** JSON lines, or text for people if the stream is a terminal. */
export const printTo = (stream: NodeJS.WritableStream & { isTTY?: boolean }, minLevel: Level): LogSink => {
  const format = stream.isTTY ? readable : json;
  return (line) => {
    if (isLoggedAt(line.level, minLevel)) stream.write(`${format(line)}\n`);
  };
};
