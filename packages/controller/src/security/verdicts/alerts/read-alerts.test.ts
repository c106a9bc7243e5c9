import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alertTimeOf } from './alert-time.ts';
import { type AlertFormat, type AlertReading, readAlerts } from './read-alerts.ts';
import { patternProblem } from './syslog-pattern.ts';

const nearMs = Date.UTC(2026, 10, 15, 10, 0, 0);
const read = (format: AlertFormat, content: string | readonly Buffer[], more: Partial<AlertReading> = {}) => {
  const chunks = typeof content === 'string' ? [Buffer.from(content)] : content;
  const source = (async function* () {
    yield* chunks;
  })();
  return readAlerts(source, { format, fromMs: nearMs - 60_000, toMs: nearMs + 60_000, ...more });
};
const one = async (format: AlertFormat, line: string, regex?: string) =>
  (await read(format, `${line}\n`, { regex })).alerts[0];

const eve = (more: object = {}) => ({
  timestamp: '2026-11-15T11:00:01.250000+0100',
  event_type: 'alert',
  src_ip: '2001:0db8:0000:0000:0000:0000:0000:0001',
  src_port: 40_001,
  dest_ip: '2001:db8::2',
  dest_port: 80,
  alert: { action: 'allowed', signature_id: 2_034_647, signature: 'an attempt' },
  ...more,
});

describe('alerts of Suricata', () => {
  it('tell what became of the packet by its verdict, not by the action of the rule', async () => {
    expect(await one('suricata-eve', JSON.stringify(eve({ verdict: { action: 'drop' } })))).toMatchObject({
      timeMs: nearMs + 1250,
      rule: '2034647',
      message: 'an attempt',
      action: 'drop',
      from: { ip: '2001:db8::1', port: 40_001 },
      to: { ip: '2001:db8::2', port: 80 },
    });
    expect(await one('suricata-eve', JSON.stringify(eve()))).toMatchObject({ action: '' });
  });

  it('hold the bytes of the packet, where marks are found', async () => {
    const payload = Buffer.from('GET / HTTP/1.1\r\nX-Traffic-Test: abc/7\r\n').toString('base64');
    expect((await one('suricata-eve', JSON.stringify(eve({ payload }))))?.text).toContain('abc/7');
  });

  it('are few among other events, which say how far the log goes', async () => {
    const flow = { timestamp: '2026-11-15T10:00:40.000000+0000', event_type: 'flow' };
    const found = await read('suricata-eve', [eve(), flow].map((event) => JSON.stringify(event)).join('\n'));
    expect(found.alerts).toHaveLength(1);
    expect(found.lastMs).toBe(nearMs + 40_000);
  });
});

it('alerts in the Common Event Format are read with escapes and a syslog header', async () => {
  const line =
    '<14>Nov 15 10:00:02 fw CEF:0|Maker|Wall|1.0|942100|SQL \\| injection|9|src=10.0.0.1 spt=40002 dst=10.0.0.2 dpt=8080 act=blocked request=/?q\\=1 msg=found it here';
  expect(await one('cef', line)).toMatchObject({
    timeMs: nearMs + 2000,
    rule: '942100',
    message: 'found it here',
    action: 'blocked',
    from: { ip: '10.0.0.1', port: 40_002 },
    to: { ip: '10.0.0.2', port: 8080 },
  });
  expect((await one('cef', line))?.text).toContain('/?q=1');
  const dated = await one('cef', `CEF:0|a|b|c|1|name|3|rt=${nearMs + 5} src=10.0.0.1`);
  expect(dated).toMatchObject({ timeMs: nearMs + 5, message: 'name', from: { ip: '10.0.0.1', port: 0 } });
});

it('alerts in both versions of the Log Event Extended Format are read', async () => {
  const members = [
    'devTime=Nov 15 2026 10:00:03',
    'src=10.0.0.1',
    'srcPort=1024',
    'dst=10.0.0.2',
    'dstPort=80',
    'action=drop',
  ];
  const wanted = { timeMs: nearMs + 3000, rule: 'ev7', action: 'drop', from: { ip: '10.0.0.1', port: 1024 } };
  expect(await one('leef', `LEEF:1.0|Maker|Wall|1|ev7|${members.join('\t')}`)).toMatchObject(wanted);
  expect(await one('leef', `LEEF:2.0|Maker|Wall|1|ev7|x5E|${members.join('^')}`)).toMatchObject(wanted);
});

describe('alerts in any log', () => {
  it('are read by a pattern with named groups', async () => {
    const regex = 'client (?P<src>\\S+):(?P<srcPort>\\d+) rule=(?P<rule>\\d+) (?P<action>\\w+)';
    const line = '2026/11/15 10:00:04 [error] client 10.0.0.9:5555 rule=77 denied';
    expect(await one('syslog-regex', line, regex)).toMatchObject({
      ...{ timeMs: nearMs + 4000, rule: '77', action: 'denied', message: '' },
      from: { ip: '10.0.0.9', port: 5555 },
    });
  });

  it('are read without one where they have the usual arrow', async () => {
    const line = '11/15/2026-10:00:05.000000  [**] [1:2034647:1] an attempt [**] {TCP} 10.0.0.1:40003 -> 10.0.0.2:80';
    expect(await one('syslog-regex', line)).toMatchObject({
      ...{ timeMs: nearMs + 5000, rule: '2034647', message: 'an attempt' },
      from: { ip: '10.0.0.1', port: 40_003 },
      to: { ip: '10.0.0.2', port: 80 },
    });
  });

  it('need a pattern that can be read and knows its groups', () => {
    expect(patternProblem('(?P<rule>\\d+)')).toBeUndefined();
    expect(patternProblem('(')).toBeDefined();
    expect(patternProblem('(?P<host>.)')).toContain('host');
  });
});

it.each([
  ['1794736800', 0],
  ['1794736800123', 123],
  ['2026-11-15T12:00:00+02:00', 0],
  ['Nov 15 10:00:00', 0],
  ['15/Nov/2026:09:00:00 -0100', 0],
  ['Abc 15 10:00:00', undefined],
  ['99999-99-99', undefined],
])('the time %s is understood', (text, offset) => {
  expect(alertTimeOf(text, nearMs)).toBe(offset === undefined ? undefined : nearMs + offset);
});

it('a time without a year is the closest one', () => {
  expect(alertTimeOf('Dec 31 23:59:59', Date.UTC(2027, 0, 1))).toBe(Date.UTC(2026, 11, 31, 23, 59, 59));
});

describe('a log', () => {
  it('is read in whatever pieces it comes, and lines that are too long are left out', async () => {
    const line = JSON.stringify(eve());
    const whole = Buffer.from(`${line}\r\n${'x'.repeat(5000)}\n{broken\n\n${line}`);
    const pieces = Array.from({ length: Math.ceil(whole.length / 7) }, (_, n) => whole.subarray(n * 7, n * 7 + 7));
    const { alerts, isCut } = await read('suricata-eve', pieces, { limits: { lineBytes: 1000 } });
    expect([alerts.length, isCut]).toEqual([2, false]);
  });

  it('is read up to the limits, which is reported', async () => {
    const { alerts, isCut } = await read('suricata-eve', `${JSON.stringify(eve())}\n`.repeat(9), {
      limits: { alerts: 4 },
    });
    expect([alerts.length, isCut]).toEqual([4, true]);
  });

  it('is read for the time of the test only', async () => {
    expect((await read('suricata-eve', JSON.stringify(eve()), { toMs: nearMs })).alerts).toEqual([]);
  });

  it('may hold anything without stopping the reading', async () => {
    const formats: AlertFormat[] = ['suricata-eve', 'cef', 'leef', 'syslog-regex'];
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc
        .json()
        .map(
          (value) => `{"event_type":"alert","alert":${value},"verdict":${value},"src_ip":${value},"payload":${value}}`,
        ),
      fc.string().map((text) => `CEF:0|${text}`),
      fc.string().map((text) => `LEEF:2.0|a|b|c|d|${text}`),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, { maxLength: 5 }), fc.constantFrom(...formats), async (lines, format) => {
        const good = {
          'suricata-eve': JSON.stringify(eve()),
          cef: 'CEF:0|a|b|c|1|n|3|spt=1',
          leef: 'LEEF:1.0|a|b|c|d|src=1',
          'syslog-regex': '10.0.0.1:1 -> 10.0.0.2:2',
        };
        const { alerts } = await read(format, `${lines.join('\n')}\n${good[format]}\n`);
        expect(alerts.length).toBeGreaterThan(0);
      }),
      { numRuns: 60 },
    );
  });
});
