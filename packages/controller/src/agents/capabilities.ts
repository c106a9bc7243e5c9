import type { AgentCapabilities } from '@rushhour/contract';
import type { AgentFacts, EngineAbility } from '@rushhour/protocol';
import type { CataloguePlugin } from './plugin-catalogue.ts';

type Capability = AgentCapabilities['plugins'][number];

interface Able {
  readonly engines: readonly EngineAbility[];
  readonly system: AgentFacts['system'];
  readonly maxBps: number;
}

const abilityFor = ({ id, name, engines }: CataloguePlugin, agent: Able): Capability => {
  const limits = { maxPps: null, maxBps: agent.maxBps || null, maxSessions: null };
  const candidates = agent.engines.filter(({ engine }) => engines.includes(engine));
  const best = candidates.find(({ available }) => available) ?? candidates[0];
  if (best === undefined) {
    const reason =
      engines.length === 0 ? 'no engine for it exists yet' : 'this version of the agent has no engine for it';
    return { id, name, available: false, engine: '', engineVersion: '', limits, missing: [], reason };
  }
  const { available, engine, version: engineVersion, missing, reason } = best;
  return { id, name, available, engine, engineVersion, limits, missing, reason };
};

/** What an agent can do of the catalogue, and what keeps it from the rest. */
export const capabilitiesOf = (agent: Able, catalogue: readonly CataloguePlugin[]): AgentCapabilities => ({
  plugins: catalogue.map((plugin) => abilityFor(plugin, agent)),
  planes: [],
  system: agent.system,
});
