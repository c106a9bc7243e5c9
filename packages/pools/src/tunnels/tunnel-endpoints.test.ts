import { describe, expect, test } from 'vitest';
import { DraftError } from '../values/issue.ts';
import { createEndpointPairs, issuesOfEndpoints, type TunnelEnds } from './tunnel-endpoints.ts';

const pairsOf = (ends: TunnelEnds): string[] =>
  createEndpointPairs(ends)
    .first(20)
    .map(({ client, server }) => `${client} ${server}`);

describe('tunnel endpoints', () => {
  test('without a list are one pair', () => {
    expect(pairsOf({ clientIp: '10.0.0.1', serverIp: '10.0.0.2' })).toEqual(['10.0.0.1 10.0.0.2']);
    expect(pairsOf({ endpoints: ' ', clientIp: '::1', serverIp: '::2' })).toEqual(['::1 ::2']);
  });

  test('pair the n-th client with the n-th server and start over on the shorter side', () => {
    expect(pairsOf({ endpoints: '10.0.0.1-10.0.0.3, 10.0.1.9 > 10.9.0.1-10.9.0.2' })).toEqual([
      '10.0.0.1 10.9.0.1',
      '10.0.0.2 10.9.0.2',
      '10.0.0.3 10.9.0.1',
      '10.0.1.9 10.9.0.2',
    ]);
  });

  test('take only hosts out of a CIDR', () => {
    expect(pairsOf({ endpoints: '10.0.0.0/30 > 10.1.0.0/31' })).toEqual(['10.0.0.1 10.1.0.0', '10.0.0.2 10.1.0.1']);
  });

  test('take a missing side from the tunnel', () => {
    expect(pairsOf({ endpoints: '10.0.0.1-10.0.0.2', serverIp: '10.9.0.1' })).toEqual([
      '10.0.0.1 10.9.0.1',
      '10.0.0.2 10.9.0.1',
    ]);
    expect(pairsOf({ endpoints: '> 10.9.0.1,10.9.0.2', clientIp: '10.0.0.1' })).toEqual([
      '10.0.0.1 10.9.0.1',
      '10.0.0.1 10.9.0.2',
    ]);
  });

  test('may come in groups, each of its own version', () => {
    expect(pairsOf({ endpoints: '10.0.0.1 > 10.0.0.2; 2001:db8::1 > 2001:db8::2;' })).toEqual([
      '10.0.0.1 10.0.0.2',
      '2001:db8::1 2001:db8::2',
    ]);
  });

  test('are cut or repeated to the wanted count', () => {
    const ends = { endpoints: '10.0.0.1-10.0.0.3 > 10.9.0.1' };
    expect(createEndpointPairs({ ...ends, count: 2 }).first(9)).toHaveLength(2);
    expect(pairsOf({ ...ends, count: 4 }).at(3)).toBe('10.0.0.1 10.9.0.1');
    expect(issuesOfEndpoints({ ...ends, count: 3 })).toEqual([]);
    expect(issuesOfEndpoints({ ...ends, count: 4 })).toMatchObject([{ code: 'ENDPOINTS_REPEAT', severity: 'warning' }]);
  });

  test('of any number are counted and reached without being listed', () => {
    const pairs = createEndpointPairs({ endpoints: '2001:db8::/64 > 2001:db8:1::/64' });
    expect(pairs.count).toBe(2n ** 64n - 1n);
    expect(pairs.at(pairs.count - 1n)).toEqual({
      client: '2001:db8::ffff:ffff:ffff:ffff',
      server: '2001:db8:1:0:ffff:ffff:ffff:ffff',
    });
    expect(() => pairs.at(pairs.count)).toThrow(RangeError);
  });

  test.each<[TunnelEnds, string[]]>([
    [{}, ['/clientIp ENDPOINT_MISSING', '/serverIp ENDPOINT_MISSING']],
    [{ clientIp: 'x', serverIp: '10.0.0.1' }, ['/clientIp ENDPOINT_MISSING']],
    [{ endpoints: '10.0.0.1' }, ['/serverIp ENDPOINT_MISSING']],
    [{ endpoints: '10.0.0.1 > 10.0.0.2 > 10.0.0.3' }, ['/endpoints ENDPOINTS_INVALID']],
    [{ endpoints: '10.0.0.1 > ::1' }, ['/endpoints ENDPOINTS_VERSION']],
    [{ endpoints: '10.0.0.1,::1 > 10.0.0.2' }, ['/endpoints ENDPOINTS_VERSION']],
    [{ endpoints: '10.0.0.1 > 10.0.0.1' }, ['/endpoints ENDPOINTS_EQUAL']],
    [
      { endpoints: '10.0.0.9-10.0.0.1,y > z' },
      ['/endpoints RANGE_REVERSED', '/endpoints RANGE_INVALID', '/endpoints RANGE_INVALID'],
    ],
    [{ endpoints: '10.0.0.1 > 10.0.0.2', count: -1 }, ['/count COUNT_INVALID']],
  ])('%o is answered with %j', (ends, expected) => {
    expect(issuesOfEndpoints(ends).map(({ path, code }) => `${path} ${code}`)).toEqual(expected);
    expect(() => createEndpointPairs(ends)).toThrow(DraftError);
  });
});
