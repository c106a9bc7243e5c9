import { type BuiltinTemplate, ends, param, twoAgents, whole } from '../builtin-template.ts';

const endsAt = (ports: string) => ({ ...ends, targets: [{ agent: { id: { $slot: 'server' } }, ports }] });
const lasts = { duration: { mode: 'time', seconds: param('seconds') } };

const requests = (order: number, rate: string) => ({
  ...{ plugin: { id: 1 }, order },
  values: { ...endsAt('18080'), ...lasts, requestsPerSecond: param(rate) },
});
const connections = (order: number) => ({
  ...{ plugin: { id: 2 }, order },
  values: { ...endsAt('18081'), ...lasts, sessionsPerSecond: param('peakCps') },
});

export const survivePeak: BuiltinTemplate = {
  name: 'Survive a peak: normal, peak, normal',
  description:
    'A suite of three stages: requests at a normal rate, then at a peak rate together with many new TCP connections, then at the normal rate again. The charts show whether latency and failures come back to what they were.',
  tags: 'suite,http,tcp,peak,recovery,resilience',
  task: {
    comment: 'Survive a peak: normal, peak, normal',
    configuration: [
      {
        plugin: { id: 21 },
        subplugins: {
          subplugins: [requests(0, 'normalRps'), requests(1, 'peakRps'), connections(1), requests(2, 'normalRps')],
        },
      },
    ],
  },
  slots: twoAgents('http').map((slot) => ({ ...slot, requires: ['http', 'tcp'] })),
  parameters: [
    whole('normalRps', 200, [1, 10_000_000], 'Requests per second before and after the peak', {
      ...{ label: 'Normal rate', unit: '/s' },
    }),
    whole('peakRps', 2000, [1, 10_000_000], 'Requests per second during the peak', { label: 'Peak rate', unit: '/s' }),
    whole('peakCps', 500, [1, 10_000_000], 'New TCP connections per second during the peak', {
      ...{ label: 'Peak connections', unit: '/s' },
    }),
    whole('seconds', 20, [1, 86_400], 'Length of each of the three stages', { label: 'Stage duration', unit: 's' }),
  ],
};
