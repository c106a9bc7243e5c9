/** Texts of searches for the limit. */
export const goals = {
  title: 'Search for the limit',
  rfc9411: (section: string) => `RFC 9411, ${section}: search for the limit`,
  kpiColumns: ['Measured at the result', 'Minimum', 'Average', 'Maximum'],
  chart: 'Offered load of each trial',
  bar: (number: number, load: string, outcome: string) => `Trial ${number}: ${load}, ${outcome}`,
  passed: 'passed',
  failed: 'failed',
  again: ', repeated',
  none: 'No load has passed',
  best: (load: string, metric: string, isLowerBound: boolean) => `${isLowerBound ? '≥ ' : ''}${load} ${metric}`,
  searching: 'Searching',
  columns: ['Trial', 'Offered', 'Begun', 'Throughput', 'Outcome', 'Reason'],
  limits: {
    '': '',
    path: 'Limited by the path with the device',
    generator: 'Limited by the agents: the device may carry more',
    max: 'The highest load to be tried passed: the device may carry more',
  },
};
