import type { Rfc2544Result } from '@rushhour/contract';

const columns = [
  'fps',
  'bps',
  'linePct',
  'limit',
  'trials',
  'ratePct',
  'offeredFps',
  'sent',
  'received',
  'lossPct',
  'frames',
  'minUs',
  'avgUs',
  'p50Us',
  'p99Us',
  'maxUs',
  'burstFps',
  'repeats',
  'isLongest',
] as const;

export const rfc2544Head = ['run', 'entry', 'frameSize', 'test', ...columns];

type Members = Partial<Record<(typeof columns)[number], unknown>>;

/** The results of all tests, a line each. */
export const rfc2544Lines = (runId: number, rows: readonly Rfc2544Result[]): unknown[][] =>
  rows.flatMap(({ configurationIndex, frameSize, throughput, latency, frameLoss, backToBack }) => {
    const line = (test: string, members: Members) => [
      runId,
      configurationIndex,
      frameSize,
      test,
      ...columns.map((name) => members[name]),
    ];
    return [
      ...(throughput ? [line('throughput', throughput)] : []),
      ...(latency ? [line('latency', latency)] : []),
      ...frameLoss.map((step) => line('frameLoss', step)),
      ...(backToBack ? [line('backToBack', backToBack)] : []),
    ];
  });
