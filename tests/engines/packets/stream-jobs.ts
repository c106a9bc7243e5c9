import type { JobOptions } from '../job.ts';

export const port = 15_009;

/** Receives streams on the right side of a cable until it is stopped. */
export const receiver = (more: object = {}): JobOptions => ({
  engine: 'stream',
  config: { role: 'server', listen: [{ host: '10.99.0.2', port }], ...more },
  duration: { mode: 'continuous' },
});

/** Sends streams from the left side of a cable. */
export const sender = (config: object = {}, seconds = 1): JobOptions => ({
  engine: 'stream',
  config: { role: 'client', targets: [{ host: '10.99.0.2', port }], ...config },
  duration: { seconds },
});
