import { findAddress, formatAddress } from '@rushhour/pools';

interface AlertEnd {
  /** In its shortest form; empty if unknown. */
  readonly ip: string;
  /** 0 if unknown. */
  readonly port: number;
}

/** One alert of a device, independent of the log format. */
export interface DeviceAlert {
  /** Milliseconds since 1970; undefined if unknown. */
  readonly timeMs: number | undefined;
  readonly rule: string;
  readonly message: string;
  /** The action of the device; empty if unknown. */
  readonly action: string;
  readonly from: AlertEnd;
  readonly to: AlertEnd;
  /** The whole line, searched for tokens and names. */
  readonly text: string;
}

/** The content of a log line. Lines that are no alert have a time too: it shows how far the log goes. */
interface LogLine {
  readonly timeMs: number | undefined;
  readonly alert?: DeviceAlert;
}

/** Reads one line; undefined if it has another format. `nearMs` determines the year of times without one. */
export type LineParser = (line: string, nearMs: number) => LogLine | undefined;

const maxLetters = 1000;

/** A member of a line as short text, whatever its type. */
export const shortText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, maxLetters) : '';

const canonical = (text: string): string => {
  const found = findAddress(text.trim());
  if (found === undefined) return '';
  return formatAddress(found.version, found.value).replace(/^::ffff:(?=\d+\.)/, '');
};

export const alertEnd = (ip: unknown, port: unknown): AlertEnd => {
  const number = Number(shortText(port));
  return { ip: canonical(shortText(ip)), port: Number.isInteger(number) && number > 0 && number < 65_536 ? number : 0 };
};
