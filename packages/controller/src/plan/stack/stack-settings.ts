import type { HostStack, StackHeader, StackTcp } from '@rushhour/protocol';
import { type PlanScope, pointerIn } from '../core/plan-scope.ts';

/** The part of a stack that is the same for all its hosts. */
export type StackSettings = Pick<HostStack, 'vlan' | 'header' | 'tcp'>;

/** 802.1Q, 802.1ad, and outer tags of equipment from before that. */
const tagTypes = [0x8100, 0x88a8, 0x9100];
const maxTags = 2;

/** What the entry says of VLAN tags, IP headers and TCP; what the stack cannot do is reported as an issue. */
export const stackSettingsOf = (scope: PlanScope, side: 'client' | 'server'): StackSettings => ({
  vlan: vlanOf(scope),
  header: headerOf(scope, side),
  tcp: tcpOf(scope),
});

const vlanOf = (scope: PlanScope): HostStack['vlan'] => {
  const tags = scope.entry.values.ipLayer?.vlan ?? [];
  const refuse = (index: number, member: string, message: string) =>
    scope.issues.error(pointerIn(scope, 'ipLayer', 'vlan', index) + member, 'NOT_SUPPORTED', message);
  if (tags.length > maxTags) refuse(maxTags, '', `emulated hosts have at most ${maxTags} VLAN tags`);
  return tags.slice(0, maxTags).map(({ id, pcp, tpid }, index) => {
    const type = Number.parseInt(tpid, 16);
    if (!tagTypes.includes(type)) refuse(index, '/tpid', 'tags of emulated hosts have 0x8100, 0x88a8 or 0x9100');
    return { id, pcp, tpid: type };
  });
};

const headerOf = ({ entry: { values } }: PlanScope, side: 'client' | 'server'): StackHeader => {
  const { ttl, dscp, ecn, df, flowLabel, fragmentSize } = values.ipLayer ?? {};
  // What answers has right checksums: a device would drop the answer for the fault of the client.
  const invalidChecksum = (side === 'client' && values.invalidChecksum) || undefined;
  return given({ ttl, dscp, ecn, df, flowLabel, fragmentSize, invalidChecksum });
};

const congestionControls = { newreno: 'newreno', reno: 'newreno', cubic: 'cubic' } as const;

const tcpOf = (scope: PlanScope): StackTcp => {
  const { mss, window, sack, timestamps, ecn, congestion, synRetries, keepAliveSec } =
    scope.entry.values.tcpConfiguration ?? {};
  const name = congestion?.toLowerCase() ?? '';
  if (congestion !== undefined && !Object.hasOwn(congestionControls, name)) {
    const message = `emulated hosts have newreno, reno and cubic, not "${congestion}"`;
    scope.issues.error(pointerIn(scope, 'tcpConfiguration', 'congestion'), 'NOT_SUPPORTED', message);
  }
  return given({
    ...{ mss, window, sack, timestamps, ecn, synRetries },
    congestion: congestionControls[name as keyof typeof congestionControls],
    keepAliveSec: keepAliveSec || undefined,
  });
};

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const given = <T extends object>(members: T): Given<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<T>;
