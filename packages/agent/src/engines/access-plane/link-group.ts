import type { AccessPlaneConfig } from '@rushhour/protocol';
import { AccessEvents } from '../../access/access-events.ts';
import { AccessMeters } from '../../access/access-meters.ts';
import { firstProfiles, requireProfile } from '../../access/options/access-profiles.ts';
import { LagPort } from '../../access/switches/lag-port.ts';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { LinksRun } from './links-run.ts';
import { reportGroup } from './report-group.ts';

/** A link aggregation group with nothing above it. */
export const prepareLinkGroup = (context: EngineContext<AccessPlaneConfig>): PreparedEngine => {
  const { config, samples, host, signal } = context;
  const reports = { meters: new AccessMeters(samples), events: new AccessEvents(context.progress) };
  const lag = requireProfile(firstProfiles(config.profiles), 'lag');
  const port = new LagPort(config.interfaces, host.isCaptured ?? false, lag);
  port.open({ receive() {}, advance() {} });
  return new LinksRun(
    {
      noun: 'a group of links',
      interfaces: port.members,
      start: () => port.start(),
      setLink: (name, isUp) => port.setMember(name, isUp),
      report: () => {
        reportGroup(port, context, reports);
        reports.events.report();
      },
      close: () => port.close(),
    },
    signal,
  );
};
