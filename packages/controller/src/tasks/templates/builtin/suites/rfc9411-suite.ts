import { type BuiltinTemplate, ends, param, whole } from '../builtin-template.ts';
import { type Rfc9411Test, rfc9411Entry, rfc9411Goal, rfc9411HttpTests, rfc9411Parameters } from './rfc9411.ts';

/** The first load and the highest one, shared by the tests that search the same. */
const loads = {
  throughputBps: ['bps', 'throughput', 10_000_000, 10_000_000_000, 1_000_000_000_000, 'bit/s'],
  sessionsPerSecond: ['cps', 'connections per second', 100, 100_000, 1_000_000, '/s'],
  concurrentSessions: ['open', 'concurrent connections', 100, 50_000, 100_000, ''],
} as const;
type Searched = keyof typeof loads;

const loadParameters = Object.values(loads).flatMap(([name, what, start, max, bound, unit]) => [
  whole(`${name}Start`, start, [1, start], `First load of tests of ${what}`, { label: `First ${what}`, unit }),
  whole(`${name}Max`, max, [start, bound], `Highest load of tests of ${what}`, { label: `Highest ${what}`, unit }),
]);

const boundsOf = (metric: Searched) => {
  const [name] = loads[metric];
  return { start: param(`${name}Start`), max: param(`${name}Max`) };
};

/** Servers of all tests run at the same time, each on a port of its own. */
const firstPort = 28_081;
const transactionBytes = 1024;

const entryOf = (test: Rfc9411Test, order: number) => {
  const { section, metric, isFixed = false } = test;
  const rate = { start: param('latencyRate'), max: param('latencyRate') };
  const goal = rfc9411Goal(section, metric, isFixed ? rate : boundsOf(metric as Searched), order);
  const size = metric === 'throughputBps' ? param('objectSize') : transactionBytes;
  return rfc9411Entry(test, { goal, size, ports: String(firstPort + order) });
};

/** All tests of RFC 9411 one after another, with one report; the first with these applications. */
export const rfc9411Suite = (applications: readonly object[]): BuiltinTemplate => ({
  name: 'All tests of RFC 9411',
  description:
    'The tests of sections 7.1 to 7.9 of RFC 9411 one after another, in one run with one report: throughput with a mix of applications, connections per second, throughput, latency and concurrent connections, with HTTP and with HTTPS.',
  tags: 'question:firewall,rfc9411,http,https,tls,application,mix,limit,performance',
  task: {
    comment: 'All tests of RFC 9411',
    configuration: [
      {
        plugin: { id: 10 },
        values: {
          ...ends,
          duration: { goal: rfc9411Goal('7.1', 'throughputBps', boundsOf('throughputBps')) },
          applicationParams: { applications },
        },
      },
      ...rfc9411HttpTests.filter(({ object }) => object !== 'mixed').map((test, index) => entryOf(test, index + 1)),
    ],
  },
  slots: ['client', 'server'].map((name) => ({ name, role: name as 'client', requires: ['application', 'http'] })),
  parameters: [
    ...loadParameters,
    whole(
      'latencyRate',
      100,
      [1, 1_000_000],
      'Connections per second of the tests of latency; the RFC asks for half of the highest rate',
      {
        ...{ label: 'Rate of latency tests', unit: '/s' },
      },
    ),
    whole('objectSize', 65_536, [1, 67_108_864], 'Bytes of every response in tests of throughput', {
      ...{ label: 'Object size', unit: 'bytes' },
    }),
    whole('connections', 500, [1, 100_000], 'Most connections at the same time', { label: 'Connections' }),
    whole('users', 50, [1, 10_000], 'Users of each application at the same time', { label: 'Users' }),
    whole('requestInterval', 2000, [1, 3_600_000], 'Pause between transactions of a connection kept open', {
      ...{ label: 'Pause', unit: 'ms' },
    }),
    ...rfc9411Parameters,
  ],
});
