import { findAddress, formatAddress } from '@rushhour/pools';

interface AlertEnd {
  /** In its shortest form; empty when the alert does not say. */
  readonly ip: string;
  /** 0 when the alert does not say. */
  readonly port: number;
}

/** One alert of a device, whatever the format of its log. */
export interface DeviceAlert {
  /** Milliseconds since 1970; undefined when it is not known. */
  readonly timeMs: number | undefined;
  readonly rule: string;
  readonly message: string;
  /** The action of the device; empty when it does not say. */
  readonly action: string;
  readonly from: AlertEnd;
  readonly to: AlertEnd;
  /** Everything the line says, to look for tokens and names in. */
  readonly text: string;
}

/** What one line of a log says: a time even where it is no alert, so that it is known how far the log goes. */
interface LogLine {
  readonly timeMs: number | undefined;
  readonly alert?: DeviceAlert;
}

/** Reads one line; undefined when it is none of the format. `nearMs` settles the year of times that have none. */
export type LineParser = (line: string, nearMs: number) => LogLine | undefined;

const maxLetters = 1000;

/** A member of a line as short text, whatever it is. */
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
