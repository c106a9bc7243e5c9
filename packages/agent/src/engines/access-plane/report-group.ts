import type { AccessPlaneConfig } from '@rushhour/protocol';
import type { AccessMeters } from '../../access/access-meters.ts';
import type { LagPort } from '../../access/switches/lag-port.ts';
import type { EngineContext } from '../../engine.ts';

/** Reports a link aggregation group: rows of its members and its metrics. */
export const reportGroup = (port: LagPort, context: EngineContext<AccessPlaneConfig>, meters: AccessMeters): void => {
  for (const row of port.takeRows()) context.putRow('ports', row);
  meters.followGroup(port.name, port.group);
};
