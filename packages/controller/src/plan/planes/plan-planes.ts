import {
  type AccessPlaneEntry,
  accessPlanePluginId,
  accessProfiles,
  type ControlPlaneEntry,
  controlPlanePluginId,
  controlProfiles,
  entriesOf,
  type FoundEntry,
  findPlugin,
  type ProtocolConfig,
} from '@rushhour/contract';
import { type AccessPlaneConfig, type ControlPlaneConfig, controlProtocols, type Duration } from '@rushhour/protocol';
import type { PlannedJob } from '../core/agent-plan.ts';
import { checkValues } from '../core/checked-values.ts';
import type { PlanAgent, PlanInput } from '../core/plan-input.ts';
import type { PlanIssues } from '../core/plan-issues.ts';
import { completeAccess } from './complete-access.ts';
import { controlRefusals } from './control-refusals.ts';
import { gatewayProfiles } from './gateway-profiles.ts';
import { reportMacOverlaps } from './mac-overlaps.ts';
import { gatewayGroupOf, interfacesOf, profilesOf } from './plane-references.ts';
import type { EntryOfRouters } from './refusal.ts';
import { withRouteFiles } from './route-files.ts';
import { withSupplicantCertificates } from './supplicant-certificates.ts';

/** A job of a plane and the agent that has it. */
export interface PlannedPlane {
  readonly agent: PlanAgent;
  /** JSON pointer of the entry. */
  readonly path: string;
  readonly job: PlannedJob;
}

/** Traffic of the same task. */
interface Beside {
  /** Seconds of traffic; null: it has no planned end, undefined: there is none. */
  readonly trafficSec: number | null | undefined;
  /** Groups of access sessions that traffic goes through, by `groupKey`. */
  readonly usedGroups: ReadonlySet<string>;
  readonly issues: PlanIssues;
}

export const groupKey = (agentId: number, groupId: number): string => `${agentId} ${groupId}`;

/** Jobs for every entry of both planes. An entry that cannot run is reported and left out. */
export const planPlanes = (input: PlanInput, beside: Beside): PlannedPlane[] => {
  const { accessPlane, controlPlane } = input.definition;
  const access = accessPlane.flatMap((entry, index) => planAccess(input, { entry, index, ...beside }) ?? []);
  reportMacOverlaps(access, beside.issues);
  return [...access, ...controlPlane.flatMap((entry, index) => planControl(input, { entry, index, ...beside }) ?? [])];
};

interface Work<Entry> extends Beside {
  readonly entry: Entry;
  readonly index: number;
}

const planAccess = (input: PlanInput, work: Work<AccessPlaneEntry>): PlannedPlane | undefined => {
  const { entry, index, issues } = work;
  const path = `/accessPlane/${index}`;
  const agent = agentOf(input, { entry, path, issues });
  const given = profilesOf(input, { entry, path, issues }, accessProfiles);
  const machineAddresses = agent === undefined ? [] : addressesOf(agent);
  const profiles = given && completeAccess(given, { entry, path, issues, machineAddresses });
  const interfaces = agent && interfacesOf({ agent, ids: entry.interfaces ?? [], path: `${path}/interfaces`, issues });
  if (agent === undefined || profiles === undefined || interfaces === undefined) return undefined;
  const carriesTraffic = !entry.isServer && work.usedGroups.has(groupKey(agent.id, entry.groupId ?? 0));
  if (carriesTraffic && !['ipoe', 'pppoe', 'l2tp'].some((name) => profiles[name] !== undefined))
    return issues.error(path, 'NOT_SUPPORTED', 'traffic needs sessions with addresses: add ipoe, pppoe or l2tp');
  const config: AccessPlaneConfig = {
    role: entry.isServer ? 'server' : 'client',
    groupId: entry.groupId ?? 0,
    ...(carriesTraffic && { carriesTraffic }),
    entry: index,
    roleName: entry.role ?? '',
    interfaces,
    profiles: withSupplicantCertificates(input, profiles, { path, issues }),
  };
  const plane = { pluginId: accessPlanePluginId, path, config, target: interfaces.join(', ') };
  return { agent, path, job: jobOf(input, work, plane) };
};

/** Addresses of the machine of an agent. */
const addressesOf = ({ interfaces }: PlanAgent): string[] =>
  interfaces.flatMap(({ ips }) => ips.map((ip) => ip.split('/')[0] ?? ''));

interface PlannedGateway {
  readonly agent: PlanAgent;
  readonly path: string;
  readonly profiles: Readonly<Record<string, unknown[]>>;
  readonly interfaces: string[];
}

const planControl = (input: PlanInput, work: Work<ControlPlaneEntry>): PlannedPlane | undefined => {
  const { entry, index, issues } = work;
  const path = `/controlPlane/${index}`;
  const agent = agentOf(input, { entry, path, issues });
  const profiles = profilesOf(input, { entry, path, issues }, controlProfiles);
  const groups = entry.interfaces?.length ? entry.interfaces : [[]];
  const interfaces =
    agent && groups.map((ids, i) => interfacesOf({ agent, ids, path: `${path}/interfaces/${i}`, issues }));
  if (agent === undefined || profiles === undefined || !interfaces?.every((group) => group !== undefined)) {
    return undefined;
  }
  if (profiles['access'] !== undefined) {
    const names = [...new Set(interfaces.flat())];
    return planGateway(input, work, { agent, path, profiles, interfaces: names });
  }
  checkRouters({ profiles, routers: groups.length }, path, issues);
  const config: ControlPlaneConfig = {
    role: entry.isServer ? 'server' : 'client',
    entry: index,
    interfaces,
    profiles: withRouteFiles(input, profiles, { path, issues }),
  };
  const plane = { pluginId: controlPlanePluginId, path, config, target: [...new Set(interfaces.flat())].join(', ') };
  return { agent, path, job: jobOf(input, work, plane) };
};

/** A gateway of subscribers is the one of the access plane, with other profiles. */
const planGateway = (
  input: PlanInput,
  work: Work<ControlPlaneEntry>,
  { agent, path, profiles, interfaces }: PlannedGateway,
): PlannedPlane | undefined => {
  const { index, issues } = work;
  const refuse = (pointer: string, message: string) => issues.error(`${path}${pointer}`, 'NOT_SUPPORTED', message);
  const other = Object.keys(profiles).find((protocol) => protocol !== 'access');
  if (other !== undefined) return refuse(`/${other}/0`, 'an entry with access has no other protocols');
  const [access, second] = profiles['access'] as ProtocolConfig<'access'>[];
  if (access === undefined || second !== undefined) return refuse('/access/1', 'an entry has one profile of access');
  const addresses = agent.interfaces.find(({ name }) => name === interfaces[0])?.ips ?? [];
  const address = addresses.find((ip) => !ip.includes(':'))?.split('/')[0];
  const machine = { interfaceAddress: address, machineAddresses: addressesOf(agent) };
  const given = gatewayProfiles(access, machine, (pointer, message) => refuse('/access/0', `${pointer}: ${message}`));
  if (given === undefined) return undefined;
  const config: AccessPlaneConfig = {
    ...{ role: 'server', groupId: gatewayGroupOf(index), entry: index, roleName: '', interfaces, profiles: given },
  };
  const plane = { pluginId: controlPlanePluginId, path, config, target: interfaces.join(', ') };
  return { agent, path, job: jobOf(input, work, { ...plane, engine: findPlugin(accessPlanePluginId)?.name }) };
};

/** Protocols over TCP and UDP: the kernel would answer for an address of the machine. */
const needAddresses: readonly string[] = ['bgp', 'bfd'];

/** Refuses what emulated routers cannot run, and sessions without addresses of both ends. */
const checkRouters = (routers: EntryOfRouters, path: string, issues: PlanIssues): void => {
  for (const [protocol, configs] of Object.entries(routers.profiles)) {
    if (!controlProtocols.includes(protocol)) {
      issues.error(`${path}/${protocol}`, 'NOT_SUPPORTED', `emulated routers cannot run ${protocol} yet: leave it out`);
    }
    for (const [i, config] of configs.entries()) {
      for (const [pointer, message] of controlRefusals(protocol, config, routers))
        issues.error(`${path}/${protocol}/${i}`, 'NOT_SUPPORTED', pointer === '' ? message : `${pointer}: ${message}`);
      if (!needAddresses.includes(protocol)) continue;
      const { session = {} } = config as { readonly session?: Readonly<Record<string, unknown>> };
      for (const member of ['localAddress', 'peerAddress'].filter((name) => session[name] === undefined)) {
        const message = `emulated routers need /session/${member} of the profile`;
        issues.error(`${path}/${protocol}/${i}`, 'ADDRESS_NEEDED', message);
      }
    }
  }
};

interface Found {
  readonly entry: AccessPlaneEntry | ControlPlaneEntry;
  readonly path: string;
  readonly issues: PlanIssues;
}

const agentOf = ({ agents }: PlanInput, { entry, path, issues }: Found): PlanAgent | undefined =>
  agents.get(entry.agent.id) ??
  issues.error(`${path}/agent/id`, 'AGENT_UNKNOWN', `there is no agent ${entry.agent.id}`);

interface Plane {
  readonly pluginId: number;
  readonly path: string;
  readonly config: AccessPlaneConfig | ControlPlaneConfig;
  readonly target: string;
  /** Another engine than that of the plane. */
  readonly engine?: string | undefined;
}

const jobOf = (
  { definition: { configuration }, allowedTargets }: PlanInput,
  { index, trafficSec, issues }: Work<unknown>,
  { pluginId, path, config, target, engine = findPlugin(pluginId)?.name ?? '' }: Plane,
): PlannedJob => {
  const own = entriesOf([...configuration]).find((entry) => entry.pluginId === pluginId);
  const duration = (own && durationOf(own, issues)) ?? durationBeside(trafficSec);
  return {
    // Planes without an entry in the configuration come after all entries.
    entry: own?.index ?? configuration.length,
    planeEntry: index,
    path,
    pluginId,
    // Without an end of its own a plane lasts as long as the traffic, like a server.
    role: own === undefined && trafficSec === null ? 'server' : config.role,
    engine,
    target,
    share: 1,
    canPause: true,
    canChangeLoad: false,
    job: {
      engine,
      config,
      duration: { ...wholeDuration, ...duration },
      allowedTargets: [...allowedTargets],
      cpuCores: 1,
    },
  };
};

const durationOf = (own: FoundEntry, issues: PlanIssues): Partial<Duration> | undefined => {
  const given = checkValues(own, issues)?.duration;
  if (given === undefined) return undefined;
  const { stages, ...duration } = given;
  if (stages.length > 0) {
    const message = 'a plane has no load that could follow stages';
    issues.error(`${own.path}/values/duration/stages`, 'NOT_SUPPORTED', message);
  }
  return duration;
};

const wholeDuration: Duration = {
  mode: 'continuous',
  seconds: 10,
  count: 1,
  rampUpSec: 0,
  warmUpSec: 0,
  rampDownSec: 0,
};

const durationBeside = (trafficSec: number | null | undefined): Partial<Duration> =>
  typeof trafficSec === 'number' ? { mode: 'time', seconds: trafficSec } : { mode: 'continuous' };
