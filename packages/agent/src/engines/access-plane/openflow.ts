import type { AccessPlaneConfig } from '@rushhour/protocol';
import { AccessEvents } from '../../access/access-events.ts';
import { AccessMeters } from '../../access/access-meters.ts';
import { firstProfiles, requireProfile } from '../../access/options/access-profiles.ts';
import { OpenFlowChannels } from '../../access/switches/openflow-channels.ts';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { LinksRun } from './links-run.ts';

/** OpenFlow switches that connect to a controller under test. */
export const prepareOpenFlow = (context: EngineContext<AccessPlaneConfig>): PreparedEngine => {
  const { config, samples, signal } = context;
  const meters = new AccessMeters(samples);
  const events = new AccessEvents(context.progress);
  const profile = requireProfile(firstProfiles(config.profiles), 'openflow');
  const channels = new OpenFlowChannels(profile, meters.onAnswered);
  return new LinksRun(
    {
      noun: 'an OpenFlow switch',
      interfaces: config.interfaces,
      start: () => channels.start(),
      setLink: (_name, isUp) => channels.setLink(isUp),
      report: () => {
        for (const row of channels.takeRows()) {
          context.putRow('sessions', row);
          events.follow(`${row.index}`, () => `switch ${row.index}`, row);
        }
        events.report();
        meters.followSwitches(config.interfaces.join('+'), channels);
      },
      close: () => channels.close(),
    },
    signal,
  );
};
