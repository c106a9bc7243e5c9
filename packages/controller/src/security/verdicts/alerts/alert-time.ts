const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const clock = String.raw`(?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?`;
const zone = String.raw`(?:\s?(?:Z|UTC|GMT|(?<zone>[+-]\d{2}:?\d{2})))?`;
const form = (date: string) => new RegExp(`^${date}${zone}$`, 'i');

/** ISO 8601 and variants, syslog with and without a year, web servers, packet logs. */
const forms: readonly RegExp[] = [
  form(String.raw`(?<year>\d{4})[-/](?<month>\d{2})[-/](?<day>\d{2})[T ]${clock}`),
  form(String.raw`(?<month>[a-z]{3}) {1,2}(?<day>\d{1,2}) (?:(?<year>\d{4}) )?${clock}`),
  form(String.raw`(?<day>\d{2})/(?<month>[a-z]{3})/(?<year>\d{4}):${clock}`),
  form(String.raw`(?<month>\d{2})/(?<day>\d{2})(?:/(?<year>\d{4}))?-${clock}`),
];

type Parts = Readonly<Partial<Record<string, string>>>;

const zoneMs = (text: string | undefined): number => {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(text ?? '') ?? [];
  return (sign === '-' ? -60_000 : 60_000) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0));
};

/** From 1; 0 for an unknown month. */
const monthOf = (text: string): number => (/^\d/.test(text) ? Number(text) : months.indexOf(text.toLowerCase()) + 1);

const timeIn = ({ month = '', day, hour, minute, second, fraction = '0', zone: offset }: Parts, year: number): number =>
  Date.UTC(year, monthOf(month) - 1, Number(day), Number(hour), Number(minute), Number(second)) +
  Math.floor(Number(`0.${fraction}`) * 1000) -
  zoneMs(offset);

const dated = (parts: Parts, nearMs: number): number | undefined => {
  const { month = '', year } = parts;
  if (monthOf(month) < 1 || monthOf(month) > 12) return undefined;
  if (year !== undefined) return timeIn(parts, Number(year));
  const near = new Date(nearMs).getUTCFullYear();
  const times = [near - 1, near, near + 1].map((guess) => timeIn(parts, guess));
  return times.reduce((best, time) => (Math.abs(time - nearMs) < Math.abs(best - nearMs) ? time : best));
};

/**
 * Parses a time of a log into milliseconds since 1970; seconds and milliseconds since 1970 are accepted, too. Without a
 * zone it is UTC; without a year it is the time closest to `nearMs`.
 */
export const alertTimeOf = (text: string, nearMs: number): number | undefined => {
  const trimmed = text.slice(0, 64).trim();
  if (/^\d{9,10}(\.\d{1,9})?$/.test(trimmed)) return Math.floor(Number(trimmed) * 1000);
  if (/^\d{12,13}$/.test(trimmed)) return Number(trimmed);
  const parts = forms.map((one) => one.exec(trimmed)?.groups).find((groups) => groups !== undefined);
  return parts && dated(parts, nearMs);
};

const stamp =
  /^(?:<\d{1,3}>)?(?:1 )?(\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}:\d{2}\S{0,20}|[A-Za-z]{3} {1,2}\d{1,2} (?:\d{4} )?\d{2}:\d{2}:\d{2}|\d{2}\/\d{2}(?:\/\d{4})?-\d{2}:\d{2}:\d{2}\.\d{1,9})/;

/** The time at the start of a log line. */
export const leadingTimeOf = (line: string, nearMs: number): number | undefined => {
  const found = stamp.exec(line)?.[1];
  return found === undefined ? undefined : alertTimeOf(found, nearMs);
};
