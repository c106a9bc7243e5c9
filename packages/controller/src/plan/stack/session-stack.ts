import { type AccessPlaneEntry, accessProfiles, type ControlPlaneEntry, type ProtocolConfig } from '@rushhour/contract';
import type { HostStack } from '@rushhour/protocol';
import { PlanIssues } from '../core/plan-issues.ts';
import { type PlanScope, pointerIn } from '../core/plan-scope.ts';
import type { ClientSource } from '../endpoints/resolve-endpoint.ts';
import { defaultProfile, gatewayGroupOf, profilesOf } from '../planes/plane-references.ts';
import { canUseStack } from './stack-demand.ts';
import { type EmulatedEndpoint, mayEmulate } from './stack-hosts.ts';
import { stackSettingsOf } from './stack-settings.ts';

/** Sessions must be started within this time: the preparation of a run waits for them. */
const maxStartSec = 80;

interface FoundGroup {
  readonly entry: AccessPlaneEntry | ControlPlaneEntry;
  /** JSON pointer of the entry. */
  readonly path: string;
  readonly groupId: number;
}

/** Gateways of the control plane on an agent. They have no `groupId`: traffic names them by group 0. */
const routersOf = ({ input }: PlanScope, agentId: number): FoundGroup[] =>
  input.definition.controlPlane.flatMap((entry, index) =>
    entry.agent.id === agentId && (entry.access?.length ?? 0) > 0
      ? [{ entry, path: `/controlPlane/${index}`, groupId: gatewayGroupOf(index) }]
      : [],
  );

/** The entry of an access group; undefined, with an issue, when there is not exactly one. */
const groupOf = (
  scope: PlanScope,
  { endpoint, path, agent }: EmulatedEndpoint,
  isGateway: boolean,
): FoundGroup | undefined => {
  const { input, issues } = scope;
  const { accessGroup } = endpoint;
  const side = isGateway ? 'gateway' : 'subscribers';
  const where = { path: `${path}/accessGroup`, agentId: agent.id };
  const named = input.definition.accessPlane.flatMap((entry, index): FoundGroup[] =>
    entry.agent.id === agent.id && (entry.isServer ?? false) === isGateway && (entry.groupId ?? 0) === accessGroup
      ? [{ entry, path: `/accessPlane/${index}`, groupId: accessGroup }]
      : [],
  );
  const found = [...named, ...(isGateway && accessGroup === 0 ? routersOf(scope, agent.id) : [])];
  if (found.length === 1) return found[0];
  const message =
    found.length === 0
      ? `agent ${agent.name} has no ${side} of group ${accessGroup}: add an entry with that groupId to accessPlane`
      : `group ${accessGroup} of agent ${agent.name} is ambiguous: ${found.map((one) => one.path).join(', ')}`;
  return issues.error(where, found.length === 0 ? 'ACCESS_GROUP_UNKNOWN' : 'ACCESS_GROUP_AMBIGUOUS', message);
};

/** Number and pace of the sessions of an entry. Problems of its profiles are reported with the entry itself. */
const profilesIn = ({ input }: PlanScope, { entry, path }: FoundGroup) => {
  const given = profilesOf(input, { entry, path, issues: new PlanIssues() }, accessProfiles) ?? {};
  const first = <Name extends 'sessions' | 'ppp' | 'ipoe'>(name: Name) =>
    (given[name]?.[0] ?? defaultProfile(name)) as ProtocolConfig<Name>;
  const hasPpp = ['pppoe', 'ppp', 'l2tp'].some((name) => given[name] !== undefined);
  return {
    load: first('sessions').load,
    ppp: hasPpp ? first('ppp') : undefined,
    ipoe: hasPpp ? undefined : first('ipoe'),
  };
};

const canBeUsed = (scope: PlanScope, { endpoint, path }: EmulatedEndpoint): boolean => {
  const { entry, issues } = scope;
  const { network, ip, interfaceId } = endpoint;
  const refusals: [boolean, string, string][] = [
    [!canUseStack(entry), `${path}/accessGroup`, `traffic of ${entry.plugin?.name} cannot go through access sessions`],
    ...Object.entries({ network, ip, interfaceId }).map(([name, value]): [boolean, string, string] => [
      value !== undefined,
      `${path}/${name}`,
      'the sessions of the access group have addresses and interfaces: leave it out',
    ]),
    [
      (entry.values.ipLayer?.vlan?.length ?? 0) > 0,
      pointerIn(scope, 'ipLayer', 'vlan'),
      'access sessions have the VLANs of their access line',
    ],
    [scope.demands.hasTunnel(entry), `${path}/accessGroup`, 'traffic of access sessions cannot go through tunnels'],
  ];
  const refused = refusals.filter(([isRefused]) => isRefused);
  for (const [, pointer, message] of refused) issues.error(pointer, 'NOT_SUPPORTED', message);
  return refused.length === 0;
};

const interfaceOf = ({ agent }: EmulatedEndpoint, { entry }: FoundGroup): string =>
  agent.interfaces.find(({ id }) => id === entry.interfaces?.flat()[0])?.name ?? '';

/** What sessions lack that are to carry traffic of a version. */
const missingOf = (version: 4 | 6, { ppp, ipoe }: Pick<ReturnType<typeof profilesIn>, 'ppp' | 'ipoe'>) => {
  const message = `sessions that carry traffic of IPv${version} need it`;
  const [ip, control] = version === 4 ? (['ipv4', 'ipcp'] as const) : (['ipv6', 'ip6cp'] as const);
  if (ipoe !== undefined && !ipoe[ip].enabled) return ['/ipoe/0', `/${ip}/enabled: ${message}`] as const;
  if (ppp !== undefined && !ppp[control].enabled) return ['/ppp/0', `/${control}/enabled: ${message}`] as const;
  return undefined;
};

/** The addresses of access sessions as the source of a client; undefined, with issues, when they cannot be. */
export const sessionSenderOf = (
  scope: PlanScope,
  one: EmulatedEndpoint,
  version: 4 | 6,
): { source: ClientSource; stack: HostStack } | undefined => {
  const { issues } = scope;
  const { path } = one;
  const isPossible = canBeUsed(scope, one);
  const group = groupOf(scope, one, false);
  if (!isPossible || group === undefined || !mayEmulate(scope, one)) return undefined;
  const { load, ppp, ipoe } = profilesIn(scope, group);
  const share = scope.demands.sessionShareOf(path);
  const count = Math.floor((load.count - 1 - share.index) / share.count) + 1;
  if (count < 1) {
    const message = `has ${load.count} sessions for ${share.count} sources: each needs one of its own`;
    return issues.error(`${path}/accessGroup`, 'ACCESS_GROUP_EMPTY', message);
  }
  const missing = missingOf(version, { ppp, ipoe });
  if (missing !== undefined) return issues.error(`${group.path}${missing[0]}`, 'NOT_SUPPORTED', missing[1]);
  const startSec = Math.ceil(load.startDelaySec + load.count / load.startPerSec);
  if (startSec > maxStartSec) {
    const message = `/load: traffic begins once its sessions are up, and to start them takes ${startSec} s; ${maxStartSec} s is the maximum`;
    return issues.error(`${group.path}/sessions/0`, 'RATE_IMPOSSIBLE', message);
  }
  const through = interfaceOf(one, group);
  const sessions = { groupId: group.groupId, ...share, ...(version === 6 && { isIpv6: true }) };
  const source = { addresses: { addresses: [], networks: [], ranges: [] }, count, version };
  return { source, stack: { interface: through, networks: [], sessions, ...stackSettingsOf(scope, 'client') } };
};

/** The hosts behind a gateway that are a target; undefined, with issues, when they cannot be. */
export const gatewayStackOf = (scope: PlanScope, one: EmulatedEndpoint): HostStack | undefined => {
  const { endpoint, path } = one;
  const { ip, ...rest } = endpoint;
  const isPossible = canBeUsed(scope, { ...one, endpoint: rest });
  const group = groupOf(scope, one, true);
  if (ip === undefined)
    return scope.issues.error(`${path}/ip`, 'ADDRESS_NEEDED', 'a target behind a gateway needs an address');
  if (!isPossible || group === undefined || !mayEmulate(scope, one)) return undefined;
  return {
    interface: interfaceOf(one, group),
    networks: [{ subnet: `${ip}/${ip.includes(':') ? 128 : 32}`, hosts: [ip] }],
    sessions: { groupId: group.groupId, index: 0, count: 1 },
    ...stackSettingsOf(scope, 'server'),
  };
};
