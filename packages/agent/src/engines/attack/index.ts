import { AttackConfig } from '@rushhour/protocol';
import type { Engine } from '../../engine.ts';
import { prepareAttackClient } from './attack-client.ts';
import { prepareAttackServer } from './attack-server.ts';
import { prepareFuzzClient } from './fuzz/fuzz-client.ts';

/** One engine over the common core: it differs from others by its name and so by the names of its metrics. */
const attackEngine = (id: string): Engine<AttackConfig> => ({
  id,
  config: AttackConfig,
  targetsOf: (config) => (config.role === 'client' ? config.targets.map((target) => target.host) : []),
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
/** The server is that of every security test; the client looks for what stops a target. */
export const fuzzing: Engine<AttackConfig> = {
  ...fuzzed,
  prepare({ config, ...context }) {
    return config.role === 'client'
      ? prepareFuzzClient({ ...context, config })
      : fuzzed.prepare({ ...context, config });
  },
};
