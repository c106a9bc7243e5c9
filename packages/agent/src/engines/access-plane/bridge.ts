import type { AccessPlaneConfig } from '@rushhour/protocol';
import { AccessEvents } from '../../access/access-events.ts';
import { AccessMeters } from '../../access/access-meters.ts';
import { firstProfiles, requireProfile } from '../../access/options/access-profiles.ts';
import { Bridge } from '../../access/switches/bridge.ts';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { LinksRun } from './links-run.ts';
import { reportPorts } from './report-group.ts';

/** A bridge that agrees with its neighbours on a spanning tree. */
export const prepareBridge = (context: EngineContext<AccessPlaneConfig>): PreparedEngine => {
  const { config, samples, host, signal } = context;
  const meters = new AccessMeters(samples);
  const events = new AccessEvents(context.progress);
  const profile = requireProfile(firstProfiles(config.profiles), 'stp');
  const bridge = new Bridge(config.interfaces, host.isCaptured ?? false, profile);
  const report = () => {
    reportPorts(bridge.takeRows(), context, events);
    events.report();
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
