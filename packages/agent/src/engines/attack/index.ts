import { AttackConfig } from '@rushhour/protocol';
import type { Engine } from '../../engine.ts';
import { prepareAttackClient } from './attack-client.ts';
import { prepareAttackServer } from './attack-server.ts';
import { prepareFuzzClient } from './fuzz/fuzz-client.ts';

/** The attack engines share one implementation; they differ in their id and the prefix of their metrics. */
const attackEngine = (id: string): Engine<AttackConfig> => ({
  id,
  config: AttackConfig,
  targetsOf(config) {
    if (config.role !== 'client') return [];
    return [...config.targets, ...(config.bare === undefined ? [] : [config.bare])].map(({ host }) => host);
  },
  check: async () => ({ isAvailable: true, path: 'node:net' }),
  prepare({ config, ...context }) {
    return config.role === 'client'
      ? prepareAttackClient(id, { ...context, config })
      : prepareAttackServer(id, { ...context, config });
  },
});

export const waf = attackEngine('waf');
export const cveReplay = attackEngine('cve-replay');
export const malwareTransfer = attackEngine('malware-transfer');
export const compromisedHost = attackEngine('compromised-host');
const fuzzed = attackEngine('fuzzing');
/** The server is the common one; the client searches for inputs that stop a target. */
export const fuzzing: Engine<AttackConfig> = {
  ...fuzzed,
  prepare({ config, ...context }) {
    return config.role === 'client'
      ? prepareFuzzClient({ ...context, config })
      : fuzzed.prepare({ ...context, config });
  },
};
