import type { AccessPlaneConfig, ResultRow } from '@rushhour/protocol';
import type { AccessEvents } from '../../access/access-events.ts';
import type { AccessMeters } from '../../access/access-meters.ts';
import type { LagPort } from '../../access/switches/lag-port.ts';
import type { EngineContext } from '../../engine.ts';

/** Reports ports: their rows, and changes of their states as events. */
export const reportPorts = (
  rows: readonly ResultRow[],
  context: EngineContext<AccessPlaneConfig>,
  events: AccessEvents,
): void => {
  for (const row of rows) {
    context.putRow('ports', row);
    events.followPort(row);
  }
};

/** Reports a link aggregation group: rows of its members and its metrics. */
export const reportGroup = (
  port: LagPort,
  context: EngineContext<AccessPlaneConfig>,
  { meters, events }: { readonly meters: AccessMeters; readonly events: AccessEvents },
): void => {
  reportPorts(port.takeRows(), context, events);
  meters.followGroup(port.name, port.group);
};
