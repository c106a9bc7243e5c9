import { type ConfigurationEntry, defaultSettings } from '@rushhour/contract';
import { campaigns } from '../../security/campaigns/campaigns.ts';
import type { RunPlan } from '../core/agent-plan.ts';
import type { PlanAgent, PlanInput, PlanNetwork } from '../core/plan-input.ts';
import { planRun } from '../core/plan-run.ts';

const attackEngines = ['compromised-host', 'cve-replay', 'fuzzing', 'malware-transfer', 'waf'];
const engines = [
  'application',
  'convergence',
  'dns',
  'har-replay',
  'http',
  'icmp',
  'ipsec-load',
  'ipsec-tunnel',
  'pcap-replay',
  'rocev2',
  'stateless-server',
  'stream',
  'tcp',
  'tls',
  'udp',
  ...attackEngines,
];

/** An agent that is online and can do everything, on a machine of its own with the address 10.0.0.<id>. */
export const agentOf = (id: number, more: Partial<PlanAgent> = {}): PlanAgent => ({
  id,
  name: `agent${id}`,
  machineId: `machine${id}`,
  status: 1,
  isBlocked: false,
  addresses: [`10.0.0.${id}`],
  interfaces: [],
  engines: engines.map((engine) => ({ engine, available: true, way: '', version: '1', missing: [], reason: '' })),
  cpuCores: 4,
  system: { caps: ['cap_net_admin', 'cap_net_raw'] },
  maxBps: 0,
  ...more,
});

export const interfaceOf = (id: number, ...ips: string[]): PlanAgent['interfaces'][number] => ({
  id,
  name: `eth${id}`,
  mac: '02:00:00:00:00:01',
  mtu: 1500,
  speedMbps: 1000,
  link: 'up',
  ips,
  driver: 'veth',
  role: 'test',
  usable: true,
  reason: '',
});

export const networkOf = (id: number, subnet: string, more: Partial<PlanNetwork> = {}): PlanNetwork => ({
  id,
  name: `network${id}`,
  subnet,
  l2PolicyVersion: 1,
  ...more,
});

type Values = Record<string, unknown>;

interface InputOptions extends Partial<Omit<PlanInput, 'definition' | 'agents' | 'networks'>> {
  readonly agents?: readonly PlanAgent[];
  readonly networks?: readonly PlanNetwork[];
  readonly definition?: Partial<PlanInput['definition']>;
}

export const entryOf = (pluginId: number, values: Values): ConfigurationEntry => ({ plugin: { id: pluginId }, values });

/** What a plan is made from; agents 1 and 2 unless said. */
export const inputOf = (configuration: readonly ConfigurationEntry[], options: InputOptions = {}): PlanInput => {
  const { agents = [agentOf(1), agentOf(2)], networks = [], definition, ...more } = options;
  return {
    definition: { configuration, accessPlane: [], controlPlane: [], dumps: {}, taskId: 0, ...definition },
    agents: new Map(agents.map((agent) => [agent.id, agent])),
    agentAddresses: new Set(agents.flatMap(({ addresses }) => addresses)),
    networks: new Map(networks.map((network) => [network.id, network])),
    macs: new Map(),
    tunnels: new Map(),
    certificates: new Map(),
    dictionaries: new Map(),
    profiles: new Map(),
    files: new Map(),
    samples: new Map(),
    applications: { byId: new Map(), tables: new Map() },
    recordings: new Map(),
    captures: new Map(),
    baselines: new Map(),
    campaignFiles: new Map(),
    signatures: new Map(),
    campaigns: new Map(campaigns.map((campaign) => [campaign.id, campaign])),
    allowedTargets: defaultSettings.tasks.allowedTargets,
    dumpLimits: defaultSettings.dumps,
    ...more,
  };
};

export const ends = { sources: [{ agent: { id: 1 } }], targets: [{ agent: { id: 2 } }] };

interface Engineered {
  readonly [member: string]: unknown;
}

/** Plans entries and answers the configurations of an agent's orders of one role. */
export const configsOf = (plan: RunPlan, agentId: number, role: 'client' | 'server'): Engineered[] =>
  plan.agents
    .filter((agent) => agent.agentId === agentId)
    .flatMap(({ jobs }) => jobs.filter((job) => job.role === role))
    .map(({ job }) => job.config as Engineered);

/** What is wrong, as `severity? pointer below the first entry, code`. */
export const issueCodes = ({ issues }: RunPlan): string[] =>
  issues.map(({ severity, path, code }) => {
    const pointer = path.replace(/^\/configuration\/0\/values\//, '');
    return `${severity === 'error' ? '' : `${severity} `}${pointer} ${code}`;
  });

/** The two sides of one entry from agent 1 to agent 2. */
export const sidesOf = (pluginId: number, values: Values, options: InputOptions = {}) => {
  const plan = planRun(inputOf([entryOf(pluginId, { ...ends, ...values })], options));
  const [client = {}] = configsOf(plan, 1, 'client');
  const [server = {}] = configsOf(plan, 2, 'server');
  return { plan, client, server, issues: issueCodes(plan) };
};
