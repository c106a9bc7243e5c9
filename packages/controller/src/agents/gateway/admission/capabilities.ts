import { type AgentCapabilities, accessProfiles, controlProfiles, type PluginSpec, plugins } from '@rushhour/contract';
import type { AgentFacts, EngineAbility } from '@rushhour/protocol';

/** A plugin as far as agents are concerned: which engines can do its work. */
type CataloguePlugin = Pick<PluginSpec, 'id' | 'name' | 'engines'>;

/** One protocol of a plane. */
interface PlaneProtocol {
  readonly plane: 'access' | 'control';
  readonly name: string;
}

export const pluginCatalogue: readonly CataloguePlugin[] = plugins;

export const planeProtocols: readonly PlaneProtocol[] = [
  ...Object.keys(accessProfiles).map((name) => ({ plane: 'access' as const, name })),
  ...Object.keys(controlProfiles).map((name) => ({ plane: 'control' as const, name })),
];

interface Able {
  readonly engines: readonly EngineAbility[];
  readonly system: AgentFacts['system'];
  readonly maxBps: number;
}

const none = { engine: '', engineVersion: '', missing: [] };

/** Which of these engines the agent would use, or why none of them. */
const abilityFor = (engines: readonly string[], agent: Able) => {
  const limits = { maxPps: null, maxBps: agent.maxBps || null, maxSessions: null };
  if (engines.length === 0) return { ...none, limits, available: true, reason: '' };
  const candidates = agent.engines.filter(({ engine }) => engines.includes(engine));
  const best = candidates.find(({ available }) => available) ?? candidates[0];
  if (best === undefined) return { ...none, limits, available: false, reason: 'the agent has no engine for it' };
  const { available, engine, version: engineVersion, missing, reason } = best;
  return { available, engine, engineVersion, limits, missing, reason };
};

/** What an agent can do of the catalogue, and what keeps it from the rest. A plugin without engines needs no agent. */
export const capabilitiesOf = (
  agent: Able,
  catalogue: readonly CataloguePlugin[],
  protocols: readonly PlaneProtocol[],
): AgentCapabilities => ({
  plugins: catalogue.map(({ id, name, engines }) => ({ id, name, ...abilityFor(engines, agent) })),
  planes: protocols.map(({ plane, name }) => ({
    plane,
    name,
    ...abilityFor([`plane.${plane}.${name}`, `plane.${plane}`], agent),
  })),
  stack: { name: 'Emulated hosts', ...abilityFor(['stack'], agent) },
  system: agent.system,
});
