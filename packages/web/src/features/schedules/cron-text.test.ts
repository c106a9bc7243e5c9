import { expect, it } from 'vitest';
import { cronText } from './cron-text.ts';

it('says simple expressions in words', () => {
  expect(cronText('0 2 * * *')).toBe('Daily at 02:00');
  expect(cronText('30 6 * * 1-5')).toBe('Mon–Fri at 06:30');
  expect(cronText('0 3 * * 0,3')).toBe('Sun, Wed at 03:00');
  expect(cronText('5 4 1 * *')).toBe('Monthly on day 1 at 04:05');
  expect(cronText('5 * * * *')).toBe('Hourly at minute 05');
  expect(cronText('*/15 * * * *')).toBe('Every 15 minutes');
});

it('leaves others as they are', () => {
  for (const cron of ['0 2 1 * 1', '0 0 2 * * *', '0 2 * 6 *', '0-5 2 * * *', '0 2 * * MON', '0 */2 * * *'])
    expect(cronText(cron)).toBe(cron);
});
