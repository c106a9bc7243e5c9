const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const spans: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

export const absoluteTime = (timestamp: string) => absolute.format(new Date(timestamp));

/** "3 minutes ago", "in 2 days". */
export const relativeTime = (timestamp: string, now = Date.now()) => {
  const seconds = Math.round((Date.parse(timestamp) - now) / 1000);
  const [unit, length] = spans.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return relative.format(Math.round(seconds / length), unit as Intl.RelativeTimeFormatUnit);
};

/** As the API writes them. */
export const isTimestamp = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
