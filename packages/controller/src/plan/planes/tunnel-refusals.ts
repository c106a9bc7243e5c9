import type { AccessPlaneEntry, ProtocolConfig } from '@rushhour/contract';
import { asked, type Refusal } from './refusal.ts';

/** Addresses that tunnels of L2TP cannot have. */
const addressRefusals = (
  { tunnel: { localAddress, peerAddress } }: Pick<ProtocolConfig<'l2tp'>, 'tunnel'>,
  machineAddresses: readonly string[],
): string[] => {
  const ownName = '/tunnel/localAddress';
  const cases: [boolean, string][] = [
    [localAddress === undefined, `${ownName}: is needed: the kernel would answer for the address of the interface`],
    [localAddress?.includes(':') ?? false, `${ownName}: agents carry tunnels over IPv4 alone`],
    [peerAddress?.includes(':') ?? false, '/tunnel/peerAddress: agents carry tunnels over IPv4 alone'],
    [
      localAddress !== undefined && machineAddresses.includes(localAddress),
      `${ownName}: belongs to the machine of the agent, whose kernel would answer for it`,
    ],
    [localAddress !== undefined && localAddress === peerAddress, '/tunnel/peerAddress: is that of this end'],
  ];
  return cases.flatMap(([isAsked, message]) => (isAsked ? [message] : []));
};

/** Sessions in tunnels of L2TP: one address on one port, behind which all of them are. */
export const tunnelRefusals = (
  profiles: Readonly<Record<string, unknown[]>>,
  { interfaces = [], isServer }: AccessPlaneEntry,
  machineAddresses: readonly string[],
): Refusal[] => {
  const l2tp = profiles['l2tp']?.[0] as ProtocolConfig<'l2tp'> | undefined;
  if (l2tp === undefined) return [];
  const has = (protocol: string) => profiles[protocol] !== undefined;
  const beside = asked([
    [has('pppoe'), '/pppoe/0', 'sessions are either in tunnels or of PPPoE: use one entry for each'],
    [has('dot1x'), '/dot1x/0', 'an access concentrator of l2tp does not sign in by 802.1X'],
    [
      has('accessLine') && !isServer,
      '/accessLine/0',
      'tunnels of l2tp have no access lines: links gives them their VLAN',
    ],
    [
      interfaces.length > 1 && !has('lag'),
      '/interfaces/1',
      'tunnels of l2tp have one address: use one entry for each interface, or lag',
    ],
  ]);
  return [...beside, ...addressRefusals(l2tp, machineAddresses).map((message): Refusal => ['/l2tp/0', message])];
};
