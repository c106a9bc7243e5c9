import { AccessPlaneConfig } from '@rushhour/protocol';
import { AccessGroups } from '../../access/access-groups.ts';
import { firstProfiles } from '../../access/options/access-profiles.ts';
import { findRadius } from '../../access/radius-link.ts';
import type { Engine } from '../../engine.ts';
import { checkStack } from '../../stack/ports/open-stack.ts';
import { prepareBridge } from './bridge.ts';
import { prepareClock } from './clock.ts';
import { prepareGateway } from './gateway.ts';
import { prepareLinkGroup } from './link-group.ts';
import { prepareOpenFlow } from './openflow.ts';
import { prepareSubscribers } from './subscribers.ts';

/** Subscribers of every kind, the gateway that serves them, and protocols of links. */
export const accessPlane: Engine<AccessPlaneConfig> = {
  id: 'plane.access',
  config: AccessPlaneConfig,
  targetsOf({ role, profiles }) {
    const first = firstProfiles(profiles);
    const radius = role === 'server' ? findRadius(first)?.address : undefined;
    const { l2tp, openflow, accessLine } = first;
    const node = role === 'client' && accessLine?.ancp.enabled ? accessLine.ancp.peerAddress : undefined;
    return [radius, l2tp?.tunnel.peerAddress, openflow?.channel.controllerAddress, node].filter(
      (address) => address !== undefined,
    );
  },
  check: async () => checkStack(),
  async prepare(context) {
    const { role, groupId, profiles } = context.config;
    const hasSubscribers = ['ipoe', 'pppoe', 'l2tp', 'dot1x'].some((name) => profiles[name] !== undefined);
    try {
      if (profiles['gptp'] !== undefined) return prepareClock(context);
      if (profiles['openflow'] !== undefined) return prepareOpenFlow(context);
      if (profiles['stp'] !== undefined) return prepareBridge(context);
      if (!hasSubscribers) return prepareLinkGroup(context);
      return role === 'server' ? await prepareGateway(context) : prepareSubscribers(context);
    } catch (error) {
      const { gateways, subscribers } = context.accessGroups ?? new AccessGroups();
      (role === 'server' ? gateways : subscribers).fail(groupId, error as Error);
      throw error;
    }
  },
};
