import { generalizedNames, numberedNames, type WireNames, type WireService, wireTypes } from '@rushhour/wire';
import { ipv4Word } from '../routers/ipv4-word.ts';
import type { Fec129Profile, PseudowireProfile, VplsProfile } from '../routers/profiles.ts';
import type { InstanceOptions } from '../routers/router.ts';

type ServiceOptions = ConstructorParameters<typeof WireService>[0];

/** The wires of a router, however their protocol describes them. */
export interface WirePlan {
  readonly protocol: 'pseudowire' | 'vpls' | 'fec129';
  readonly service: ServiceOptions;
  /** Neighbours that need not be adjacent. */
  readonly peers: readonly string[];
  /** What the table of routes calls wire `index` of a neighbour. */
  readonly titleOf: (index: number) => string;
}

type Common = Pick<ServiceOptions, 'isStandby' | 'checks' | 'withdrawsAddresses' | 'hasStatus' | 'groupId'>;

const common: Common = {
  ...{ isStandby: false, checks: undefined, withdrawsAddresses: false, hasStatus: true, groupId: 0 },
};

const sizesOf = (section: PseudowireProfile['wire'] | VplsProfile['instance'] | Fec129Profile['attachment']) => ({
  count: section.count,
  mtu: section.mtu,
  hasControlWord: section.controlWord,
  firstLabel: section.labelStart,
});

/** The wires of one router follow those of the one before it. */
export const pseudowirePlan = ({ profile, ordinal }: InstanceOptions<PseudowireProfile>): WirePlan => {
  const { wire, status } = profile;
  const peers = wire.peerAddress === undefined ? [] : [wire.peerAddress];
  const first = wire.idStart + ordinal * wire.count;
  return {
    protocol: 'pseudowire',
    peers,
    titleOf: (index) => `${wire.kind} ${first + index}`,
    service: {
      ...common,
      ...sizesOf(wire),
      names: numberedNames(first),
      wireType: wireTypes[wire.kind],
      groupId: wire.groupId,
      peers,
      hasStatus: status.statusTlv,
      isStandby: status.backup === 'backup',
    },
  };
};

/** All routers with the profile are sites of the same services. */
export const vplsPlan = ({ profile }: InstanceOptions<VplsProfile>): WirePlan => {
  const { instance, neighbours } = profile;
  return {
    protocol: 'vpls',
    peers: neighbours.peers,
    titleOf: (index) => `vpn ${instance.vpnIdStart + index}`,
    service: {
      ...common,
      ...sizesOf(instance),
      names: numberedNames(instance.vpnIdStart),
      wireType: wireTypes.ethernet,
      peers: neighbours.peers,
      withdrawsAddresses: neighbours.macWithdraw,
    },
  };
};

const namesOf = ({ attachment }: Fec129Profile, ordinal: number, lsrId: number): WireNames =>
  generalizedNames({
    group: attachment.groupId,
    type: attachment.type === '1' ? 1 : 2,
    sourceStart: attachment.sourceStart + ordinal * attachment.count,
    targetStart: attachment.targetStart + ordinal * attachment.count,
    globalId: attachment.globalId,
    prefix: attachment.prefix === undefined ? lsrId : ipv4Word(attachment.prefix),
  });

export const fec129Plan = ({ profile, ordinal }: InstanceOptions<Fec129Profile>, lsrId: number): WirePlan => {
  const { attachment } = profile;
  const offset = ordinal * attachment.count;
  return {
    protocol: 'fec129',
    peers: [],
    titleOf: (index) => `${attachment.sourceStart + offset + index}-${attachment.targetStart + offset + index}`,
    service: {
      ...common,
      ...sizesOf(attachment),
      names: namesOf(profile, ordinal, lsrId),
      wireType: wireTypes.ethernet,
      peers: [],
    },
  };
};
