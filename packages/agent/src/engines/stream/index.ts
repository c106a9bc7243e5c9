import { StreamConfig } from '@rushhour/protocol';
import type { Engine } from '../../engine.ts';
import { frameWay } from '../../net/packet/frame-path.ts';
import { probePackets } from '../../net/packet/packet-socket.ts';
import { probeEpoll } from '../../net/path-probe.ts';
import { prepareStreamClient } from './client.ts';
import { prepareRfc2544Client } from './rfc2544-client.ts';
import { prepareStreamServer } from './server.ts';

/** Frames written bit for bit, and what of them arrives: loss, order, duplicates, latency, jitter. */
export const stream: Engine<StreamConfig> = {
  id: 'stream',
  config: StreamConfig,
  targetsOf(config) {
    if (config.role === 'server') return [];
    const { tunnel } = config.headers;
    const hosts = config.targets.map(({ host }) => host);
    return tunnel === undefined ? hosts : [...hosts, tunnel.destination];
  },
  check: async () => {
    const reason = probePackets() ?? probeEpoll();
    if (reason === undefined) return { isAvailable: true, way: frameWay() };
    return { isAvailable: false, missing: ['raw frames'], reason };
  },
  prepare({ config, ...context }) {
    if (config.role === 'server') return prepareStreamServer({ ...context, config });
    const whole = { ...context, config };
    return config.rfc2544 === undefined ? prepareStreamClient(whole) : prepareRfc2544Client(whole, config.rfc2544);
  },
};
