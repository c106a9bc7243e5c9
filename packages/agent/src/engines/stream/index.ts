import { StreamConfig } from '@rushhour/protocol';
import type { Engine } from '../../engine.ts';
import { checkFrames } from '../../net/frame-path.ts';
import { prepareStreamClient } from './client.ts';
import { prepareRfc2544Client } from './rfc2544/rfc2544-client.ts';
import { prepareStreamServer } from './server.ts';
import { hostsOf } from './stream-path.ts';

/** Generated frames: loss, reordering, duplicates, latency, jitter. */
export const stream: Engine<StreamConfig> = {
  id: 'stream',
  config: StreamConfig,
  targetsOf: (config) => (config.role === 'server' ? [] : hostsOf(config)),
  check: checkFrames,
  prepare({ config, ...context }) {
    if (config.role === 'server') return prepareStreamServer({ ...context, config });
    const whole = { ...context, config };
    return config.rfc2544 === undefined ? prepareStreamClient(whole) : prepareRfc2544Client(whole, config.rfc2544);
  },
};
