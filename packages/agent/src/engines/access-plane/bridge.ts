import type { AccessPlaneConfig } from '@rushhour/protocol';
import { AccessMeters } from '../../access/access-meters.ts';
import { firstProfiles, requireProfile } from '../../access/options/access-profiles.ts';
import { Bridge } from '../../access/switches/bridge.ts';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { LinksRun } from './links-run.ts';

/** A bridge that agrees with its neighbours on a spanning tree. */
export const prepareBridge = (context: EngineContext<AccessPlaneConfig>): PreparedEngine => {
  const { config, samples, host, signal } = context;
  const meters = new AccessMeters(samples);
  const profile = requireProfile(firstProfiles(config.profiles), 'stp');
  const bridge = new Bridge(config.interfaces, host.isCaptured ?? false, profile);
  const report = () => {
    for (const row of bridge.takeRows()) context.putRow('ports', row);
    meters.followBridge(bridge.name, bridge.tree);
  };
  return new LinksRun(
    {
      noun: 'a bridge',
      interfaces: bridge.interfaces,
      start: () => bridge.start(),
      setLink: (name, isUp) => bridge.setPort(name, isUp),
      report,
      close: () => bridge.close(),
    },
    signal,
  );
};
