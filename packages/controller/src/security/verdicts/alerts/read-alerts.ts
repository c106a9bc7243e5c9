import { parseCefLine, parseEveLine, parseLeefLine } from './alert-formats.ts';
import type { DeviceAlert, LineParser } from './device-alert.ts';
import { createPatternParser } from './syslog-pattern.ts';

export type AlertFormat = 'suricata-eve' | 'cef' | 'leef' | 'syslog-regex';

/** Alerts within the requested time, and how far the log goes. */
export interface ReadAlerts {
  readonly alerts: readonly DeviceAlert[];
  /** Latest time of any line; undefined if no line has one. */
  readonly lastMs: number | undefined;
  /** The log exceeds the limits: alerts may be missing. */
  readonly isCut: boolean;
}

export interface AlertReading {
  readonly format: AlertFormat;
  /** Of `syslog-regex`. */
  readonly regex?: string | undefined;
  /** Half-open; alerts without a time are kept. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly limits?: Partial<typeof defaultLimits>;
}

const defaultLimits = { bytes: 64 * 1024 * 1024, lineBytes: 1024 * 1024, alerts: 100_000, textBytes: 64 * 1024 * 1024 };

const parserOf = ({ format, regex }: AlertReading): LineParser => {
  if (format === 'suricata-eve') return parseEveLine;
  if (format === 'cef') return parseCefLine;
  return format === 'leef' ? parseLeefLine : createPatternParser(regex);
};

/** Lines of a stream; lines over the limit are left out. */
async function* linesOf(content: AsyncIterable<Buffer>, lineBytes: number): AsyncGenerator<string> {
  let open: Buffer[] = [];
  let length = 0;
  const take = (piece: Buffer) => {
    length += piece.length;
    if (length <= lineBytes) open.push(piece);
    else open = [];
  };
  const line = () => {
    const text = length > lineBytes ? '' : Buffer.concat(open).toString('utf8').trim();
    [open, length] = [[], 0];
    return text;
  };
  for await (const chunk of content) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      take(chunk.subarray(start, end));
      yield line();
      start = end + 1;
    }
    take(chunk.subarray(start));
  }
  yield line();
}

/** Never throws: unreadable lines are skipped. */
const parsed = (parse: LineParser, line: string, nearMs: number) => {
  try {
    return parse(line, nearMs);
  } catch {
    return undefined;
  }
};

/** Reads a log line by line up to the limits. */
export const readAlerts = async (content: AsyncIterable<Buffer>, reading: AlertReading): Promise<ReadAlerts> => {
  const { fromMs, toMs } = reading;
  const limits = { ...defaultLimits, ...reading.limits };
  const parse = parserOf(reading);
  const alerts: DeviceAlert[] = [];
  const seen = { bytes: 0, text: 0, lastMs: undefined as number | undefined };
  const isFull = () => seen.bytes > limits.bytes || seen.text > limits.textBytes || alerts.length >= limits.alerts;
  const isWanted = ({ timeMs }: DeviceAlert) => timeMs === undefined || (timeMs >= fromMs && timeMs < toMs);
  for await (const line of linesOf(content, limits.lineBytes)) {
    if (isFull()) return { alerts, lastMs: seen.lastMs, isCut: true };
    seen.bytes += line.length + 1;
    const found = line === '' ? undefined : parsed(parse, line, fromMs);
    if (found?.timeMs !== undefined) seen.lastMs = Math.max(seen.lastMs ?? found.timeMs, found.timeMs);
    if (found?.alert === undefined || !isWanted(found.alert)) continue;
    seen.text += found.alert.text.length;
    alerts.push(found.alert);
  }
  return { alerts, lastMs: seen.lastMs, isCut: false };
};
