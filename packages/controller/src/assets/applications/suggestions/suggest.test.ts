import { issuesOfMappings } from '@rushhour/pcap';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RecordedStep } from '../captures/session-steps.ts';
import { suggestParameters } from './suggest.ts';

const startedAtMs = 1_700_000_000_000;
const sessions = [
  { sessionIndex: 0, srcIp: '10.1.0.1', srcPort: 40_000, dstIp: '10.2.0.1', dstPort: 80, appProtocol: 'http' },
];
const context = { sessions, startedAtMs };
const stepsOf = (...texts: string[]): RecordedStep[] =>
  texts.map((text, stepIdx) => ({
    sessionIdx: 0,
    stepIdx,
    side: stepIdx % 2 === 0 ? 'client' : 'server',
    atMs: stepIdx,
    bytes: Buffer.from(text, 'latin1'),
  }));
const request = (line: string, headers = '', body = '') =>
  `${line} HTTP/1.1\r\nHost: app.test\r\n${headers}\r\n${body}`;
const suggest = (...texts: string[]) => suggestParameters(stepsOf(...texts), context);
const found = (name: string, ...texts: string[]) => suggest(...texts).find((suggestion) => suggestion.name === name);

const shop = [
  request('POST /login', 'Content-Type: application/x-www-form-urlencoded\r\n', 'user=anna&password=secret-1'),
  'HTTP/1.1 200 OK\r\nSet-Cookie: sid=8f3a99c04d; Path=/\r\n\r\nhello anna from 10.1.0.1',
  request('GET /orders?order_id=1042&t=1700000123', 'Cookie: sid=8f3a99c04d; theme=dark\r\n'),
  'HTTP/1.1 200 OK\r\n\r\n{"csrf":"aab93-77d"}',
  request('POST /buy', 'Cookie: sid=8f3a99c04d\r\n', '{"csrf":"aab93-77d","mail":"anna@shop.test","qty":2}'),
];

describe('suggestions', () => {
  test('extract what the server said before the client sent it back', () => {
    expect(found('sid', ...shop)).toMatchObject({
      source: 'extract',
      extractStepIdx: 1,
      extractLength: 10,
      stepsMappings: [{ stepIdx: 2 }, { stepIdx: 4 }],
    });
    expect(found('csrf', ...shop)).toMatchObject({
      source: 'extract',
      extractStepIdx: 3,
      stepsMappings: [{ stepIdx: 4 }],
    });
  });

  test.each([
    [
      'host',
      { source: 'fixed', defaultValue: 'app.test', stepsMappings: [{ stepIdx: 0 }, { stepIdx: 2 }, { stepIdx: 4 }] },
    ],
    ['user', { source: 'fixed', defaultValue: 'anna' }],
    ['password', { source: 'fixed', defaultValue: 'secret-1' }],
    ['mail', { source: 'fixed', defaultValue: 'anna@shop.test' }],
    ['clientIp', { source: 'system', defaultValue: 'clientIp', stepsMappings: [{ stepIdx: 1, side: 'server' }] }],
    ['unixTime', { source: 'system', defaultValue: 'nowUnix' }],
    ['order_id', { source: 'counter', type: 'integer', start: '1042' }],
  ])('know a %s', (name, expected) => {
    const suggestion = found(name, ...shop);
    expect(suggestion).toMatchObject(expected);
    expect(suggestion?.confidence).toBeGreaterThan(0);
  });

  test('know tokens, UUIDs and addresses', () => {
    const id = '6f1c2f9e-8f0a-4a35-9a7e-0f5d3c1b2a10';
    const one = request(`GET /x?ref=${id}&peer=192.0.2.7`, 'Authorization: Bearer abcDEF012345\r\n');
    expect(found('authorization', one)).toMatchObject({ source: 'random', type: 'string' });
    expect(found('uuid', one)).toMatchObject({ source: 'random', type: 'uuid' });
    expect(found('address', one)).toMatchObject({ type: 'ipv4', defaultValue: '192.0.2.7' });
  });

  test('stand on the bytes they tell', () => {
    for (const { stepsMappings, defaultValue, source } of suggest(...shop)) {
      for (const { stepIdx, offset, length } of stepsMappings) {
        if (source === 'fixed') expect(shop[stepIdx]?.slice(offset, offset + length)).toBe(defaultValue);
      }
    }
  });

  test('can be taken all together, whatever was recorded', () => {
    const piece = fc.constantFrom(
      'id=1',
      '&',
      'a@b.test',
      '10.1.0.1',
      ' ',
      '1700000001',
      'sid=abc1234567',
      '; ',
      '"x":',
      '7',
      '\r\n',
    );
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, text, text, (first, second, third) => {
        const texts = [
          request(`GET /?${first.replace(/\s/g, '')}`, `Cookie: ${second.replace(/\r\n/g, '')}\r\n`),
          second,
          request('POST /', '', third),
        ];
        const outline = stepsOf(...texts).map(({ side, atMs, bytes }) => ({ side, atMs, length: bytes.length }));
        const issues = issuesOfMappings(suggest(...texts) as never, (index) => (index === 0 ? outline : undefined));
        expect(issues.filter(({ code }) => code !== 'EXTRACT_OVERLAP')).toEqual([]);
      }),
    );
  });
});
