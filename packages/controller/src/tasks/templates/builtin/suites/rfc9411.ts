import { type BuiltinTemplate, ends, param, twoAgents, whole } from '../builtin-template.ts';

/** Share of transactions and connections that may fail by RFC 9411: one in 100,000. */
const maxFailedPct = 0.001;

/** The sizes of the mixed objects of RFC 9411, all with the same weight. */
const mixedObjectBytes = [205, 6144, 8192, 9216, 10_240, 25_600, 26_624, 35_840, 60_416, 355_328];

export interface Rfc9411Test {
  /** Section of the RFC. */
  readonly section: string;
  readonly name: string;
  readonly description: string;
  readonly metric: 'sessionsPerSecond' | 'throughputBps' | 'requestsPerSecond' | 'concurrentSessions';
  readonly isSecure: boolean;
  /** Bytes of every answer, or a mix of sizes. */
  readonly object: number | 'mixed';
  readonly values?: Readonly<Record<string, unknown>>;
  readonly start: number;
  readonly max: number;
  /** The rate is given; the search only confirms it. */
  readonly isFixed?: boolean;
}

/** The tests with HTTP and HTTPS, in the order of the RFC. */
export const rfc9411HttpTests: readonly Rfc9411Test[] = [
  {
    section: '7.2',
    name: 'TCP connections per second, HTTP (RFC 9411)',
    description:
      'Finds the highest rate of new TCP connections with one HTTP transaction on each. Objects of the RFC: 1, 2, 4, 16 and 64 KiB.',
    metric: 'sessionsPerSecond',
    isSecure: false,
    object: 1024,
    values: { keepAlive: { enabled: false } },
    start: 500,
    max: 100_000,
  },
  {
    section: '7.3',
    name: 'HTTP throughput (RFC 9411)',
    description:
      'Finds the highest HTTP throughput. Objects of the RFC: 1, 16, 64 and 256 KiB, ten on each connection.',
    metric: 'throughputBps',
    isSecure: false,
    object: 65_536,
    values: { keepAlive: { maxRequests: 10 } },
    start: 100_000_000,
    max: 10_000_000_000,
  },
  {
    section: '7.3',
    name: 'HTTP throughput, mixed objects (RFC 9411)',
    description: 'Finds the highest HTTP throughput with the mixed objects of the RFC, from 0.2 to 347 KiB.',
    metric: 'throughputBps',
    isSecure: false,
    object: 'mixed',
    values: { keepAlive: { maxRequests: 10 } },
    start: 100_000_000,
    max: 10_000_000_000,
  },
  {
    section: '7.4',
    name: 'HTTP transaction latency (RFC 9411)',
    description:
      'Times to first and last byte at a given rate: half of the connections per second that were found. Objects of the RFC: 1, 16 and 64 KiB.',
    metric: 'sessionsPerSecond',
    isSecure: false,
    object: 1024,
    values: { keepAlive: { enabled: false } },
    start: 500,
    max: 500,
    isFixed: true,
  },
  {
    section: '7.5',
    name: 'Concurrent TCP connections, HTTP (RFC 9411)',
    description:
      'Finds the highest number of TCP connections that stay open at the same time, each with an HTTP transaction of 1 KiB every few seconds.',
    metric: 'concurrentSessions',
    isSecure: false,
    object: 1024,
    values: { requestInterval: param('requestInterval') },
    start: 1000,
    max: 50_000,
  },
  {
    section: '7.6',
    name: 'TCP connections per second, HTTPS (RFC 9411)',
    description:
      'Finds the highest rate of new connections with a full TLS handshake and one HTTPS transaction on each. Objects of the RFC: 1, 2, 4, 16 and 64 KiB.',
    metric: 'sessionsPerSecond',
    isSecure: true,
    object: 1024,
    values: { keepAlive: { enabled: false } },
    start: 100,
    max: 50_000,
  },
  {
    section: '7.7',
    name: 'HTTPS throughput, searched (RFC 9411)',
    description:
      'Finds the highest HTTPS throughput. Objects of the RFC: 1, 16, 64 and 256 KiB, ten on each connection.',
    metric: 'throughputBps',
    isSecure: true,
    object: 65_536,
    values: { keepAlive: { maxRequests: 10 } },
    start: 50_000_000,
    max: 10_000_000_000,
  },
  {
    section: '7.7',
    name: 'HTTPS throughput, mixed objects (RFC 9411)',
    description: 'Finds the highest HTTPS throughput with the mixed objects of the RFC, from 0.2 to 347 KiB.',
    metric: 'throughputBps',
    isSecure: true,
    object: 'mixed',
    values: { keepAlive: { maxRequests: 10 } },
    start: 50_000_000,
    max: 10_000_000_000,
  },
  {
    section: '7.8',
    name: 'HTTPS transaction latency (RFC 9411)',
    description:
      'Times to first and last byte over TLS at a given rate: half of the connections per second that were found. Objects of the RFC: 1, 16 and 64 KiB.',
    metric: 'sessionsPerSecond',
    isSecure: true,
    object: 1024,
    values: { keepAlive: { enabled: false } },
    start: 100,
    max: 100,
    isFixed: true,
  },
  {
    section: '7.9',
    name: 'Concurrent TCP connections, HTTPS (RFC 9411)',
    description:
      'Finds the highest number of TLS connections that stay open at the same time, each with a transaction of 1 KiB every few seconds.',
    metric: 'concurrentSessions',
    isSecure: true,
    object: 1024,
    values: { requestInterval: param('requestInterval') },
    start: 500,
    max: 50_000,
  },
];

const units = {
  sessionsPerSecond: '/s',
  requestsPerSecond: '/s',
  throughputBps: 'bit/s',
  concurrentSessions: '',
} as const;

/** The search of a test, for templates of any plugin. */
export const rfc9411Goal = (
  section: string,
  metric: string,
  loads: object = { start: param('start'), max: param('max') },
  order = 0,
) => ({
  metric,
  ...loads,
  order,
  maxFailedPct,
  resolutionPct: param('resolutionPct'),
  trialSec: param('trialSec'),
  settleSec: param('settleSec'),
  rfc9411: section,
});

export const rfc9411Parameters = [
  whole('trialSec', 30, [2, 3600], 'Length of each trial; the sustain phase of the RFC is at least 300 s', {
    ...{ label: 'Trial duration', unit: 's' },
  }),
  whole('settleSec', 5, [0, 600], 'Time after a change of load that is not judged', { label: 'Settling', unit: 's' }),
  whole('resolutionPct', 5, [1, 50], 'How exactly the limit is found', { label: 'Resolution', unit: '%' }),
];

const loadsOf = ({ metric, start, max, isFixed = false }: Rfc9411Test) => {
  const unit = units[metric];
  if (isFixed) return [whole('rate', start, [1, 1_000_000], 'Connections per second', { label: 'Rate', unit })];
  const bound = metric === 'throughputBps' ? 1_000_000_000_000 : metric === 'concurrentSessions' ? 100_000 : 1_000_000;
  return [
    // A search from above its end would be refused, so the bounds do not overlap.
    whole('start', start, [1, start], 'Load of the first trial', { label: 'First load', unit }),
    whole('max', max, [start, bound], 'Highest load that is tried', { label: 'Highest load', unit }),
  ];
};

const objectsOf = (object: Rfc9411Test['object'], size: unknown) =>
  object === 'mixed'
    ? { responses: mixedObjectBytes.map((bytes) => ({ body: { type: 'zero', size: bytes } })) }
    : { responseSize: size };

interface EntryOptions {
  readonly goal: object;
  /** Bytes of every answer, unless they are mixed. */
  readonly size: unknown;
  /** Ports of the server, where several entries share an agent. */
  readonly ports?: string;
}

/** The traffic of a test. */
export const rfc9411Entry = (
  { metric, object, isSecure, values = {} }: Rfc9411Test,
  { goal, size, ports }: EntryOptions,
) => ({
  plugin: { id: 1 },
  values: {
    ...ends,
    ...(ports !== undefined && { targets: ends.targets.map((target) => ({ ...target, ports })) }),
    httpParams: {
      ...(metric !== 'concurrentSessions' && { connections: param('connections') }),
      ...objectsOf(object, size),
    },
    ...(isSecure && { tlsParams: { versions: ['1.2', '1.3'] } }),
    ...values,
    duration: { goal },
  },
});

const parametersOf = (test: Rfc9411Test) => [
  ...loadsOf(test),
  ...(test.object === 'mixed'
    ? []
    : [
        whole('objectSize', test.object, [1, 67_108_864], 'Bytes of every response', {
          label: 'Object size',
          unit: 'bytes',
        }),
      ]),
  ...(test.metric === 'concurrentSessions'
    ? [
        whole('requestInterval', 2000, [1, 3_600_000], 'Pause between transactions of a connection', {
          label: 'Pause',
          unit: 'ms',
        }),
      ]
    : [whole('connections', 500, [1, 100_000], 'Most connections at the same time', { label: 'Connections' })]),
  ...rfc9411Parameters,
];

const templateOf = (test: Rfc9411Test): BuiltinTemplate => {
  const { section, name, description, metric, isSecure, isFixed = false } = test;
  const loads = isFixed ? { start: param('rate'), max: param('rate') } : undefined;
  return {
    name,
    description: `${description} RFC 9411, section ${section}.`,
    tags: `question:firewall,rfc9411,${isSecure ? 'https,tls' : 'http'},limit,performance`,
    task: {
      comment: name,
      configuration: [rfc9411Entry(test, { goal: rfc9411Goal(section, metric, loads), size: param('objectSize') })],
    },
    slots: twoAgents('http'),
    parameters: parametersOf(test),
  };
};

/** The tests of RFC 9411 with HTTP and HTTPS. */
export const rfc9411Templates: readonly BuiltinTemplate[] = rfc9411HttpTests.map(templateOf);
