import type { AccessPlaneConfig } from '@rushhour/protocol';
import { AccessEvents } from '../../access/access-events.ts';
import { AccessMeters } from '../../access/access-meters.ts';
import { firstProfiles, requireProfile } from '../../access/options/access-profiles.ts';
import { TimeClock } from '../../access/switches/time-clock.ts';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { LinksRun } from './links-run.ts';
import { reportPorts } from './report-group.ts';

/** A clock that agrees with its neighbour on the time. */
export const prepareClock = (context: EngineContext<AccessPlaneConfig>): PreparedEngine => {
  const { config, samples, host, signal } = context;
  const profile = requireProfile(firstProfiles(config.profiles), 'gptp');
  const [name = ''] = config.interfaces;
  const events = new AccessEvents(context.progress);
  const clock = new TimeClock(name, host.isCaptured ?? false, profile, new AccessMeters(samples));
  return new LinksRun(
    {
      noun: 'a clock',
      interfaces: [name],
      start: () => clock.start(),
      setLink: (_name, isUp) => clock.setLink(isUp),
      report: () => {
        reportPorts(clock.takeRows(), context, events);
        events.report();
        clock.report();
      },
      close: () => clock.close(),
    },
    signal,
  );
};
