import type { ProtocolConfig, ProtocolName } from '@rushhour/contract';
import { findMac, formatMac, type Mac } from '@rushhour/pools';
import type { AccessPlaneConfig } from '@rushhour/protocol';
import type { PlannedJob } from '../core/agent-plan.ts';
import type { PlanAgent } from '../core/plan-input.ts';
import type { PlanIssues } from '../core/plan-issues.ts';

interface PlannedPlane {
  readonly agent: PlanAgent;
  readonly path: string;
  readonly job: PlannedJob;
}

type Range = readonly [first: number, last: number];

/** The MACs of the sessions of one interface, `step` apart. */
interface SessionMacs {
  readonly plane: PlannedPlane;
  readonly interface: string;
  readonly first: Mac;
  readonly step: number;
  readonly count: number;
  /** VLANs outside and inside; 0: no tag. */
  readonly vlans: readonly [outer: Range, inner: Range];
}

const untagged: SessionMacs['vlans'] = [
  [0, 0],
  [0, 0],
];

/**
 * Sessions with the same MAC have the same client id and DUID, too: a server takes them for one. Says so of entries, agents
 * and interfaces of a run, unless their VLANs keep them apart.
 */
export const reportMacOverlaps = (planes: readonly PlannedPlane[], issues: PlanIssues): void => {
  const all = planes.flatMap(macsOf);
  for (const [i, one] of all.entries())
    for (const other of all.slice(0, i)) {
      const shared = sharedMac(one, other);
      if (shared !== undefined) reportShared(one, other, shared, issues);
    }
};

const reportShared = (one: SessionMacs, other: SessionMacs, shared: Mac, issues: PlanIssues) => {
  const { plane } = one;
  const isSame = plane === other.plane;
  const where = isSame ? `its interface ${other.interface}` : `${other.plane.path} on agent ${other.plane.agent.name}`;
  const message =
    `sessions on ${one.interface} use MACs of ${where} as well, such as ${formatMac(shared)}, and servers ` +
    'cannot tell them apart: set another first MAC in a profile of links';
  issues.warning({ path: plane.path, agentId: plane.agent.id }, 'MAC_OVERLAP', message);
};

const macsOf = (plane: PlannedPlane): SessionMacs[] => {
  const { role, interfaces, profiles } = plane.job.job.config as AccessPlaneConfig;
  const configOf = <Name extends ProtocolName>(name: Name) => profiles[name]?.[0] as ProtocolConfig<Name> | undefined;
  const sessions = configOf('sessions')?.load.count;
  if (role !== 'client' || sessions === undefined) return [];
  const used = configOf('lag') === undefined ? interfaces.slice(0, sessions) : interfaces.slice(0, 1);
  const { sourceMac, macStep: step = 1 } = configOf('links')?.link ?? {};
  const vlans = vlansOf(configOf('accessLine')?.vlan, configOf('links')?.vlan);
  return used.flatMap((name, index): SessionMacs[] => {
    const begin = Math.floor((sessions * index) / used.length);
    const end = Math.floor((sessions * (index + 1)) / used.length);
    const own = plane.agent.interfaces.find((card) => card.name === name)?.mac ?? '';
    const first = findMac(sourceMac ?? own);
    if (first === undefined) return [];
    // A concentrator of tunnels has one MAC for all.
    const count = configOf('l2tp') === undefined ? end - begin : 1;
    return [
      { plane, interface: name, first: sourceMac === undefined ? first : first + begin * step, step, count, vlans },
    ];
  });
};

const vlansOf = (
  line: ProtocolConfig<'accessLine'>['vlan'] | undefined,
  link: ProtocolConfig<'links'>['vlan'] | undefined,
): SessionMacs['vlans'] => {
  if (line === undefined)
    return link === undefined
      ? untagged
      : [
          [link.outer, link.outer],
          [link.inner, link.inner],
        ];
  if (line.mode === 'untagged') return untagged;
  return [
    [line.outerStart, line.outerEnd],
    [line.innerStart, line.innerEnd],
  ];
};

const doMeet = ([first, last]: Range, [otherFirst, otherLast]: Range) => first <= otherLast && otherFirst <= last;

const lastOf = ({ first, step, count }: SessionMacs) => first + (count - 1) * step;

/** The first MAC that both have, in VLANs where they meet. */
const sharedMac = (one: SessionMacs, other: SessionMacs): Mac | undefined => {
  if (!one.vlans.every((range, i) => doMeet(range, other.vlans[i] as Range))) return undefined;
  const from = Math.max(one.first, other.first);
  const last = Math.min(lastOf(one), lastOf(other));
  const begin = one.first + Math.ceil((from - one.first) / one.step) * one.step;
  // After as many steps the distances to the other's MACs come again.
  for (let i = 0, mac = begin; i < other.step && mac <= last; i++, mac += one.step)
    if ((mac - other.first) % other.step === 0) return mac;
  return undefined;
};
