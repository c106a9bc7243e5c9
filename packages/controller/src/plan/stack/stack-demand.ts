import {
  type CompromisedHostValues,
  type CveReplayValues,
  type IcmpValues,
  packetEvasions,
  type StatelessServerValues,
  type WafValues,
} from '@rushhour/contract';
import { findPorts, type PortSet } from '@rushhour/pools';
import type { TrafficEntry } from '../core/load/traffic-entry.ts';
import { type Endpoint, endpointsOf } from '../core/load/traffic-entry.ts';
import type { PlanNetwork } from '../core/plan-input.ts';

/** Why an entry runs on the agents' own IP stack instead of kernel sockets. */
export interface StackDemand {
  /** JSON pointer of the member that asks for it. */
  readonly path: string;
  /** The part of the demand that kernel sockets cannot do, for messages. */
  readonly what: string;
}

/** Plugins whose engines can use the stack. The others build their frames themselves. */
const stackPlugins: ReadonlySet<string | undefined> = new Set([
  'http',
  'tcp',
  'udp',
  'dns',
  'stateless-server',
  'har-replay',
  'application',
  'tls',
  'waf',
  'cve-replay',
  'malware-transfer',
  'fuzzing',
  'compromised-host',
  'icmp',
  'ipsec-tunnel',
  'ipsec-load',
]);

export const canUseStack = ({ plugin }: TrafficEntry): boolean => stackPlugins.has(plugin?.name);

/** Their engine writes whole frames, with the MACs of the networks and without an IP stack. */
export const writesFrames = ({ plugin }: Pick<TrafficEntry, 'plugin'>): boolean => plugin?.name === 'stream';

/** Plugins whose sessions belong to emulated hosts in any case. */
const hostPlugins: ReadonlySet<string | undefined> = new Set(['ipsec-tunnel', 'ipsec-load']);

/** Linux sets these for the whole machine only. */
const machineOptions = ['sack', 'timestamps', 'ecn'] as const;
const socketOptions = ['mss', 'window', 'congestion', 'synRetries', 'keepAliveSec'] as const;

/** Members of `tcpConfiguration` that an engine cannot set on its kernel sockets. */
const stackTcpOptions = (pluginName: string | undefined) => {
  if (pluginName === 'tcp') return machineOptions;
  return pluginName === 'http' ? ([...machineOptions, 'keepAliveSec'] as const) : [...machineOptions, ...socketOptions];
};

const headerMembers = ['ttl', 'dscp', 'ecn', 'df', 'fragmentSize', 'flowLabel'] as const;
const tunnelMembers = ['tunnelID', 'tunnelIDs', 'tunnelClientIp', 'tunnelServerIp', 'tunnelEndpoints'] as const;

type Networks = ReadonlyMap<number, PlanNetwork>;

/** Which entries run on the stack, and which entry answers at a target. */
export class StackDemands {
  readonly #demands: ReadonlyMap<TrafficEntry, StackDemand>;
  /** Where entries that only answer listen, by plugin, agent and addresses. */
  readonly #listening = new Map<string, { readonly entry: TrafficEntry; readonly endpoint: Endpoint }[]>();

  /** Sources, by agent and access group. */
  readonly #sessionUsers = new Map<string, string[]>();
  readonly #sessionGroups = new Map<string, string>();
  /** Sources, by the tunnels they use. */
  readonly #tunnelUsers = new Map<string, readonly string[]>();

  constructor(entries: readonly TrafficEntry[], networks: Networks) {
    const capable = entries.filter(canUseStack);
    this.#demands = new Map(
      capable.flatMap((entry) => {
        const demand = networkDemand(entry, networks) ?? memberDemand(entry);
        return demand === undefined ? [] : [[entry, demand] as const];
      }),
    );
    for (const entry of capable.filter((one) => !isServerEntry(one))) {
      this.#addTunnelUsers(entry);
      this.#addSessionUsers(entry);
    }
    for (const entry of entries.filter(isServerEntry)) {
      for (const endpoint of endpointsOf(entry, 'targets')) {
        const key = listenKey(entry, endpoint);
        this.#listening.set(key, [...(this.#listening.get(key) ?? []), { entry, endpoint }]);
      }
    }
  }

  /** JSON pointers of all sources whose traffic goes through the same tunnels as that of the entry. */
  tunnelUsersOf(entry: TrafficEntry): readonly string[] {
    return this.#tunnelUsers.get(tunnelKey(entry)) ?? [];
  }

  /** Which part of the sessions of its access group a source uses: every one has sessions of its own. */
  sessionShareOf(path: string): { readonly index: number; readonly count: number } {
    const users = this.#sessionUsers.get(this.#sessionGroups.get(path) ?? '') ?? [path];
    return { index: users.indexOf(path), count: users.length };
  }

  hasTunnel({ values }: TrafficEntry): boolean {
    return tunnelMembers.some((name) => isAsked(values[name]));
  }

  #addSessionUsers(entry: TrafficEntry): void {
    for (const [i, { agent, accessGroup }] of endpointsOf(entry, 'sources').entries()) {
      if (accessGroup === undefined) continue;
      const key = `${agent?.id} ${accessGroup}`;
      const path = `${entry.path}/values/sources/${i}`;
      this.#sessionGroups.set(path, key);
      this.#sessionUsers.set(key, [...(this.#sessionUsers.get(key) ?? []), path]);
    }
  }

  #addTunnelUsers(entry: TrafficEntry): void {
    const key = tunnelKey(entry);
    const users = endpointsOf(entry, 'sources').map((_, i) => `${entry.path}/values/sources/${i}`);
    this.#tunnelUsers.set(key, [...(this.#tunnelUsers.get(key) ?? []), ...users]);
  }

  /** Undefined: the entry runs on kernel sockets. */
  of(entry: TrafficEntry): StackDemand | undefined {
    return this.#demands.get(entry);
  }

  /** The entry whose server answers at a target: one that only answers there, else the entry itself. */
  serverEntryOf(entry: TrafficEntry, target: Endpoint): TrafficEntry {
    if (isServerEntry(entry)) return entry;
    const listening = this.#listening.get(listenKey(entry, target)) ?? [];
    return listening.find(({ endpoint }) => coversPorts(endpoint, target))?.entry ?? entry;
  }

  /**
   * Who a source or a target with an agent shares the addresses of its network with. All kernel sockets of an agent
   * have the same; every job on the stack has hosts of its own, because each has an IP stack of its own.
   */
  addressUserOf(entry: TrafficEntry, member: 'sources' | 'targets', index: number): string {
    const endpoint = endpointsOf(entry, member)[index];
    const agentId = endpoint?.agent?.id ?? 0;
    if (member === 'sources') return this.of(entry) ? `${agentId} ${entry.path}/sources/${index}` : `${agentId}`;
    const server = endpoint === undefined ? entry : this.serverEntryOf(entry, endpoint);
    return this.of(server) ? `${agentId} ${server.path}/targets` : `${agentId}`;
  }
}

const tunnelKey = ({ values }: TrafficEntry): string =>
  JSON.stringify(tunnelMembers.map((name) => (name === 'tunnelIDs' ? (values[name] ?? []) : (values[name] ?? null))));

const isServerEntry = ({ values, plugin }: TrafficEntry): boolean =>
  values.isServer === true || plugin?.name === 'stateless-server';

const listenKey = ({ pluginId }: TrafficEntry, { agent, network, ip }: Endpoint): string =>
  [pluginId, agent?.id, ip ?? network?.id].join(' ');

/** Without ports both have those of the plugin. */
const coversPorts = (listening: Endpoint, target: Endpoint): boolean => {
  if (listening.ports === target.ports) return true;
  const [open, wanted] = [findPorts(listening.ports ?? ''), findPorts(target.ports ?? '')];
  if (open === undefined || wanted === undefined) return false;
  const opened = new Set(portsIn(open));
  return portsIn(wanted).every((port) => opened.has(port));
};

const portsIn = (ports: PortSet): number[] => Array.from({ length: ports.size }, (_, i) => ports.at(i));

/** The sources and the targets with an agent, with the pointer of their network. */
const agentEndpoints = (entry: TrafficEntry) =>
  (['sources', 'targets'] as const).flatMap((member) =>
    endpointsOf(entry, member).flatMap((endpoint, i) =>
      endpoint.agent === undefined ? [] : [{ endpoint, path: `${entry.path}/values/${member}/${i}/network/id` }],
    ),
  );

/** What its networks ask for. A gateway alone is a matter of the machine's routes. */
const networkDemand = (entry: TrafficEntry, networks: Networks): StackDemand | undefined => {
  for (const { endpoint, path } of agentEndpoints(entry)) {
    const network = endpoint.network && networks.get(endpoint.network.id);
    const what = network && macDemand(network);
    if (what !== undefined) return { path, what };
  }
  return undefined;
};

/** What the frames of a network need that the interface does not give them. */
export const macDemand = (network: PlanNetwork): string | undefined => {
  const { macPolicy, macOverrides, gateway, name } = network;
  const hasOwnMacs = (macPolicy?.mode ?? 'interface') !== 'interface' || (macOverrides?.length ?? 0) > 0;
  if (hasOwnMacs) return `the MAC addresses of network "${name}"`;
  return gateway && gatewayMacMode(network) !== 'arp' ? `the gateway MAC of network "${name}"` : undefined;
};

/** Without a mode, what is given decides. */
const gatewayMacMode = ({ gatewayMacMode: mode, gatewayMac, gatewayMacId }: PlanNetwork): string =>
  mode || (gatewayMac ? 'static' : gatewayMacId ? 'mac' : 'arp');

const memberDemand = (entry: TrafficEntry): StackDemand | undefined => {
  const { path, plugin, values } = entry;
  const { ipLayer, tcpConfiguration } = values;
  const demand = (member: string, what: string) => ({ path: `${path}/values/${member}`, what });
  if (hostPlugins.has(plugin?.name)) return { path: `${path}/plugin/id`, what: 'IPsec' };
  const message = plugin?.name === 'icmp' ? messageDemand(entry) : undefined;
  if (message !== undefined) return demand(message.path, message.what);
  const protocol = (values as Partial<StatelessServerValues>).statelessServerParams?.protocol;
  if (protocol === 'icmp' || protocol === 'raw')
    return demand('statelessServerParams/protocol', `a stateless server of ${protocol} packets`);
  if ((ipLayer?.vlan?.length ?? 0) > 0) return demand('ipLayer/vlan', 'VLAN tags');
  const kernelFields = plugin?.name === 'icmp' ? ['ttl'] : [];
  const field = headerMembers.find((name) => ipLayer?.[name] !== undefined && !kernelFields.includes(name));
  if (field !== undefined) return demand(`ipLayer/${field}`, `${field} of the IP header`);
  const option = stackTcpOptions(plugin?.name).find((name) => isAsked(tcpConfiguration?.[name]));
  if (option !== undefined) return demand(`tcpConfiguration/${option}`, `${option} of TCP`);
  const form = packetDemand(values);
  if (form !== undefined) return demand(form.path, form.what);
  if (values.invalidChecksum && plugin?.name !== 'icmp') return demand('invalidChecksum', 'wrong checksums');
  const tunnel = tunnelMembers.find((name) => isAsked(values[name]));
  return tunnel === undefined ? undefined : demand(tunnel, 'a tunnel');
};

/** Packets of attacks in a form that sockets do not send. */
const packetDemand = (values: TrafficEntry['values']): StackDemand | undefined => {
  const { wafModules, compromisedHostParams, cveReplayParams } = values as Partial<
    WafValues & CompromisedHostValues & CveReplayValues
  >;
  const what = (name: string) => `packets of the form ${name}`;
  for (const [member, params] of Object.entries({ wafModules, compromisedHostParams })) {
    if ((params?.packets ?? 'plain') !== 'plain')
      return { path: `${member}/packets`, what: what(`${params?.packets}`) };
  }
  const { enabled = false, evasions = [] } = cveReplayParams?.variants ?? {};
  const found = enabled ? evasions.find((name) => packetEvasions.some((form) => form === name)) : undefined;
  return found && { path: 'cveReplayParams/variants/evasions', what: what(found) };
};

/** The kernel sends echo requests, from one address of the machine. */
const messageDemand = (entry: TrafficEntry): StackDemand | undefined => {
  const { type = 'echo' } = (entry.values as Partial<IcmpValues>).icmpParams ?? {};
  if (type !== 'echo') return { path: 'icmpParams/type', what: `ICMP messages of type ${type}` };
  const index = endpointsOf(entry, 'sources').findIndex(({ network, ip }) => network !== undefined && ip === undefined);
  return index < 0 ? undefined : { path: `sources/${index}/network`, what: 'echoes from the addresses of a network' };
};

/** 0 and an empty list ask for nothing. */
const isAsked = (value: unknown): boolean =>
  value !== undefined && value !== 0 && !(Array.isArray(value) && value.length === 0);
