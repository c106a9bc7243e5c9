import { text } from '../../lib/text.ts';

const { cronWords: words, weekdays } = text.schedules;
const isNumber = (field: string) => /^\d{1,2}$/.test(field);

/** `1-5`, `1,3,5`; 0 and 7 are Sunday. Undefined for other forms. */
const daysOf = (field: string): string | undefined => {
  const nameOf = (day: string) => weekdays[(Number(day) + 6) % 7] ?? day;
  const [, first, last] = /^([0-7])-([0-7])$/.exec(field) ?? [];
  if (first !== undefined && last !== undefined) return `${nameOf(first)}–${nameOf(last)}`;
  return /^[0-7](,[0-7])*$/.test(field) ? field.split(',').map(nameOf).join(', ') : undefined;
};

/** A cron expression in words; the expression itself where it is not a simple one. */
export const cronText = (cron: string): string => {
  const fields = cron.trim().split(/\s+/);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  if (fields.length !== 5 || month !== '*') return cron;
  const isEveryDay = day === '*' && weekday === '*';
  const [, step] = /^\*\/(\d+)$/.exec(minute) ?? [];
  if (step !== undefined && hour === '*' && isEveryDay) return words.everyMinutes(Number(step));
  if (!isNumber(minute)) return cron;
  if (hour === '*' && isEveryDay) return words.hourly(minute.padStart(2, '0'));
  if (!isNumber(hour)) return cron;
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  if (isEveryDay) return words.daily(time);
  if (weekday === '*' && isNumber(day)) return words.monthly(Number(day), time);
  const days = day === '*' ? daysOf(weekday) : undefined;
  return days === undefined ? cron : words.onDays(days, time);
};
