import { describe, expect, it } from 'vitest';
import type { DeviceAlert } from './device-alert.ts';
import { type AlertedAttempt, type AlertMatch, matchAlerts } from './match-alerts.ts';

const at = Date.UTC(2026, 10, 15, 10);
const attempt = (id: number, more: Partial<AlertedAttempt> = {}): AlertedAttempt => ({
  id,
  startMs: at + id * 1000,
  endMs: at + id * 1000 + 20,
  isTried: true,
  client: { ip: '10.0.0.1', port: 40_000 + id },
  ports: [8080, 80],
  hasToken: true,
  names: ['CVE-2021-44228', '932130'],
  ...more,
});
const alert = (more: Partial<DeviceAlert> = {}): DeviceAlert => ({
  timeMs: at + 1000,
  rule: '1',
  message: 'seen',
  action: 'drop',
  from: { ip: '10.0.0.1', port: 40_001 },
  to: { ip: '10.0.0.2', port: 8080 },
  text: '',
  ...more,
});
const match = (attempts: AlertedAttempt[], alerts: DeviceAlert[], ...matchOn: AlertMatch[]) =>
  matchAlerts(attempts, alerts, { windowMs: 5000, matchOn, runToken: 'abc', coveredUntilMs: at + 60_000 });
const detected = (...given: Parameters<typeof match>) => match(...given).map((one) => one.detected);

describe('alerts and attempts', () => {
  it('belong together by the address and port of the client, whichever way the packet went', () => {
    const reply = alert({ from: { ip: '10.0.0.2', port: 8080 }, to: { ip: '10.0.0.1', port: 40_002 } });
    expect(detected([attempt(0), attempt(1), attempt(2)], [alert(), reply], 'tuple')).toEqual(['no', 'yes', 'yes']);
    expect(match([attempt(1)], [alert()], 'tuple')[0]?.alerts).toEqual([
      { time: new Date(at + 1000).toISOString(), rule: '1', message: 'seen', action: 'drop' },
    ]);
  });

  it('do not by another port of the server, by the address alone or out of time', () => {
    const others = [
      alert({ to: { ip: '10.0.0.2', port: 9999 } }),
      alert({ from: { ip: '10.0.0.1', port: 0 } }),
      alert({ timeMs: at + 6021 }),
      alert({ timeMs: at + 1000 - 5001 }),
      alert({ timeMs: undefined }),
    ];
    for (const other of others) expect(detected([attempt(1)], [other], 'tuple')).toEqual(['no']);
    expect(detected([attempt(1)], [alert({ timeMs: at + 6020 })], 'tuple')).toEqual(['yes']);
  });

  it('belong together by the token, and 1 is not 12', () => {
    const marked = alert({ text: 'X-Traffic-Test: abc/12\r\n', timeMs: undefined });
    expect(detected([attempt(1), attempt(12)], [marked], 'token')).toEqual(['no', 'yes']);
  });

  it('belong together by the rule or the CVE of the signature', () => {
    const byRule = alert({ rule: '932130' });
    const byCve = alert({ text: '{"metadata":{"cve":["CVE_2021_44228"]}}' });
    const longer = alert({ text: 'CVE-2021-442289' });
    expect([byRule, byCve, longer].map((one) => detected([attempt(1)], [one], 'signature')[0])).toEqual([
      'yes',
      'yes',
      'no',
    ]);
  });

  it('belong together only when everything asked for agrees', () => {
    const marked = alert({ text: 'abc/1 ' });
    expect(detected([attempt(1)], [marked], 'tuple', 'token')).toEqual(['yes']);
    expect(detected([attempt(1)], [marked], 'tuple', 'token', 'signature')).toEqual(['no']);
  });
});

it('what a log cannot know of stays unknown', () => {
  const late = attempt(1, { endMs: at + 60_001 });
  expect(detected([late, attempt(2, { isTried: false })], [], 'tuple')).toEqual(['unknown', 'unknown']);
  expect(detected([attempt(1, { client: { ip: '10.0.0.1', port: 0 } })], [], 'tuple')).toEqual(['unknown']);
  expect(detected([attempt(1, { hasToken: false })], [], 'token')).toEqual(['unknown']);
  expect(detected([attempt(1, { names: [] })], [], 'signature')).toEqual(['unknown']);
  expect(detected([attempt(1)], [alert()])).toEqual(['unknown']);
});
