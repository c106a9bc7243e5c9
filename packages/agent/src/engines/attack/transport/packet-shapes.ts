import type { Exchange, PacketForm } from '@rushhour/protocol';
import type { SegmentShape } from '@rushhour/wire';
import type { AttackRoute } from './client-connection.ts';

/** Short enough to cut what devices look for, long enough that a request needs few. */
const segmentBytes = 24;

const shapes: Readonly<Record<PacketForm, SegmentShape>> = {
  'tcp-segment-1': { segmentBytes: 1 },
  'tcp-segment-8': { segmentBytes: 8 },
  'tcp-out-of-order': { segmentBytes, isReversed: true },
  'tcp-overlap': { segmentBytes, overlapBytes: 12 },
  'tcp-urgent': { segmentBytes: 0, isUrgent: true },
  'tcp-checksum-decoy': { segmentBytes, decoy: 'checksum' },
  'ip-fragment-24': { segmentBytes: 0, fragmentBytes: 24 },
  // The device forwards what is left of it to nobody; one that does not route lets it through.
  'ip-ttl-decoy': { segmentBytes, decoy: { ttl: 1 } },
};

/** The route of an exchange, with what its TLS offers. */
export const withHello = (route: AttackRoute, exchange: Exchange | undefined): AttackRoute =>
  exchange?.protocol === 'http' && exchange.hello !== undefined ? { ...route, hello: exchange.hello } : route;

/** The route of an exchange, with the form its packets have and what its TLS offers. */
export const shapedRoute = (route: AttackRoute, exchange: Exchange): AttackRoute => {
  const form = 'packets' in exchange ? exchange.packets : undefined;
  return { ...withHello(route, exchange), ...(form !== undefined && { shape: shapes[form] }) };
};
