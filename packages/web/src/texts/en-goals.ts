/** Texts of searches for the limit. */
export const goals = {
  title: 'Search for the limit',
  rfc9411: (section: string) => `RFC 9411, ${section}: search for the limit`,
  kpiColumns: ['Measured at the result', 'Minimum', 'Average', 'Maximum'],
  trialsOf: (title: string) => `Trials: ${title}`,
  chart: (trials: readonly string[]) => `Offered load of each trial: ${trials.join('; ')}`,
  bar: (number: number, load: string, outcome: string) => `Trial ${number}: ${load}, ${outcome}`,
  passed: 'passed',
  failed: 'failed',
  again: ', repeated',
  none: 'No load passed',
  best: (load: string, metric: string, isLowerBound: boolean) => `${isLowerBound ? '≥ ' : ''}${load}, ${metric}`,
  searching: 'Searching',
  units: {
    ...{ requestsPerSecond: '/s', sessionsPerSecond: '/s', packetsPerSecond: '/s', handshakesPerSecond: '/s' },
    throughputBps: 'bit/s',
  } as Readonly<Record<string, string>>,
  metrics: {
    ...{ requestsPerSecond: 'requests', sessionsPerSecond: 'new connections', packetsPerSecond: 'packets' },
    ...{ handshakesPerSecond: 'handshakes', throughputBps: 'throughput', concurrentSessions: 'concurrent connections' },
  } as Readonly<Record<string, string>>,
  rfc9411Title: 'RFC 9411',
  mixed: 'Mixed',
  rfc9411Columns: ['Section', 'Test', 'Objects', 'Initial', 'Target', 'Result', 'Limit'],
  columns: ['Trial', 'Offered', 'Started', 'Throughput', 'Outcome', 'Reason'],
  limits: {
    '': '',
    path: 'Limited by the device or the path',
    generator: 'Limited by the agents: the device may handle more',
    max: 'The maximum load passed: the device may handle more',
  },
};
