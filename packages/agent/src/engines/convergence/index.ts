import { ConvergenceConfig } from '@rushhour/protocol';
import type { Engine } from '../../engine.ts';
import { checkFrames } from '../../net/frame-path.ts';
import { prepareStreamClient } from '../stream/client.ts';
import type { StreamClientMetrics } from '../stream/client-metrics.ts';
import { hostsOf } from '../stream/stream-path.ts';
import { prepareConvergenceServer } from './server.ts';

const metrics: StreamClientMetrics = {
  sent: 'convergence.sent',
  txBytes: 'convergence.txBytes',
  queueFull: 'convergence.queueFull',
  linkDown: 'convergence.errors.linkDown',
  dropped: 'convergence.dropped',
  streams: 'convergence.streams',
  targetLoad: 'convergence.targetLoad',
};

/** Numbered flows at an even rate, and how long each of them is interrupted. */
export const convergence: Engine<ConvergenceConfig> = {
  id: 'convergence',
  config: ConvergenceConfig,
  targetsOf: (config) => (config.role === 'server' ? [] : hostsOf(config)),
  check: checkFrames,
  prepare({ config, ...context }) {
    if (config.role === 'server') return prepareConvergenceServer({ ...context, config });
    const whole = { ...config, modifiers: [], hasWrongChecksums: false };
    return prepareStreamClient({ ...context, config: whole, metrics });
  },
};
