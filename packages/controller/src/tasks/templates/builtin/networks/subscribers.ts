import { type BuiltinTemplate, duration, ends, param, record, whole } from '../builtin-template.ts';

const forSeconds = { duration: { mode: 'time', seconds: param('seconds') } };
const [client] = ends.sources;
const [server] = ends.targets;
const requires = ['plane.access'];
const interfaceOf = (name: string, description: string) => record(name, 'interface', description);
const profileOf = (protocol: string, description: string, label: string) =>
  record(protocol, 'dictionary', description, { label, category: `protocol.${protocol}` });

export const pppoeLoginStorm: BuiltinTemplate = {
  name: 'PPPoE login storm',
  description:
    'All subscribers of a broadband network gateway sign in over PPPoE at the same time, as after a power cut. The profile of sessions gives their number, pace and how many are in setup at once. Results show the rate of setups, the time of each step and every failure by its cause. The agent needs CAP_NET_RAW.',
  tags: 'pppoe,bng,access-plane,access,resilience',
  task: {
    comment: 'PPPoE login storm',
    accessPlane: [
      {
        ...client,
        interfaces: [param('interface')],
        sessions: [param('sessions')],
        pppoe: [param('pppoe')],
        ppp: [param('ppp')],
      },
    ],
    configuration: [{ plugin: { id: 101 }, values: forSeconds }],
  },
  slots: [{ name: 'client', role: 'client', requires }],
  parameters: [
    interfaceOf('interface', 'Interface of the agent that is connected to the gateway'),
    profileOf('sessions', 'Number and pace of the sessions; the pace is the storm', 'Sessions'),
    profileOf('pppoe', 'How the gateway is found', 'PPPoE'),
    profileOf('ppp', 'User names, passwords and options of PPP', 'PPP'),
    whole('seconds', 120, [10, 86_400], 'How long the sessions stay', duration),
  ],
};

export const l2tpWholesale: BuiltinTemplate = {
  name: 'L2TP wholesale sign-in',
  description:
    'An access concentrator signs subscribers in through tunnels of L2TP at a network server of another provider. The profile of L2TP gives the addresses of both ends, the secret and the sessions of a tunnel. Results show the time of tunnels, calls and PPP, and every failure by its cause. The address of this end must not be one of the machine. The agent needs CAP_NET_RAW.',
  tags: 'l2tp,lns,bng,access-plane,access,resilience',
  task: {
    comment: 'L2TP wholesale sign-in',
    accessPlane: [
      {
        ...client,
        interfaces: [param('interface')],
        sessions: [param('sessions')],
        l2tp: [param('l2tp')],
        ppp: [param('ppp')],
      },
    ],
    configuration: [{ plugin: { id: 101 }, values: forSeconds }],
  },
  slots: [{ name: 'client', role: 'client', requires }],
  parameters: [
    interfaceOf('interface', 'Interface of the agent that is connected to the network server'),
    profileOf('sessions', 'Number and pace of the sessions', 'Sessions'),
    profileOf('l2tp', 'Addresses of both ends of the tunnels, and their secret', 'L2TP'),
    profileOf('ppp', 'User names, passwords and options of PPP', 'PPP'),
    whole('seconds', 120, [10, 86_400], 'How long the sessions stay', duration),
  ],
};

export const dhcpFlood: BuiltinTemplate = {
  name: 'DHCP flood within a pool',
  description:
    'Subscribers behind a relay or a switch ask for more addresses than the pool of the server agent has, and come back again and again. The profile of DHCP gives the pool, that of sessions the number and the reconnects. Results show who got an address, who did not and why. The server agent has one test interface; the agents need CAP_NET_RAW.',
  tags: 'dhcp,access-plane,access,resilience',
  task: {
    comment: 'DHCP flood within a pool',
    accessPlane: [
      { ...client, interfaces: [param('interface')], sessions: [param('sessions')], dhcp: [param('dhcp')] },
      { ...server, isServer: true, dhcp: [param('dhcp')] },
    ],
    configuration: [{ plugin: { id: 101 }, values: forSeconds }],
  },
  slots: [
    { name: 'client', role: 'client', requires },
    { name: 'server', role: 'server', requires },
  ],
  parameters: [
    interfaceOf('interface', 'Interface of the subscribers'),
    profileOf('sessions', 'More sessions than addresses in the pool', 'Sessions'),
    profileOf('dhcp', 'Pool and lease of the server, attempts of the clients', 'DHCP'),
    whole('seconds', 60, [10, 86_400], 'How long the subscribers ask', duration),
  ],
};

export const iptvZapping: BuiltinTemplate = {
  name: 'IPTV zapping',
  description:
    'Subscribers join multicast groups and change channels. The profile of IGMP gives the groups, the time on a channel and the longest acceptable wait. Results show how long a new channel takes, how long the old one stays, and the channels that did not come in time. The groups must be sent from elsewhere. The agent needs CAP_NET_RAW.',
  tags: 'igmp,multicast,access-plane,access',
  task: {
    comment: 'IPTV zapping',
    accessPlane: [
      {
        ...client,
        interfaces: [param('interface')],
        sessions: [param('sessions')],
        ipoe: [param('ipoe')],
        igmp: [param('igmp')],
      },
    ],
    configuration: [{ plugin: { id: 101 }, values: forSeconds }],
  },
  slots: [{ name: 'client', role: 'client', requires }],
  parameters: [
    interfaceOf('interface', 'Interface of the agent that is connected to the network'),
    profileOf('sessions', 'Number and pace of the subscribers', 'Sessions'),
    profileOf('ipoe', 'Where the addresses of the subscribers come from', 'IPoE'),
    profileOf('igmp', 'Groups, and how channels are changed', 'IGMP'),
    whole('seconds', 300, [10, 86_400], 'How long channels are changed', duration),
  ],
};

export const lacpMemberFlap: BuiltinTemplate = {
  name: 'LACP member flap',
  description:
    'Two interfaces form a group by LACP with the switch under test; the second fails and comes back again and again while sessions over the group prove that it carries traffic. The profile of link aggregation gives the interruptions and the links that must be up. Results show the state of each link, the changes of the group, lost packets and sessions that fell with a link. The agent needs CAP_NET_RAW.',
  tags: 'lacp,lag,access-plane,access,resilience',
  task: {
    comment: 'LACP member flap',
    accessPlane: [
      {
        ...client,
        interfaces: [param('interface'), param('interface2')],
        sessions: [param('sessions')],
        ipoe: [param('ipoe')],
        lag: [param('lag')],
      },
    ],
    configuration: [{ plugin: { id: 101 }, values: forSeconds }],
  },
  slots: [{ name: 'client', role: 'client', requires }],
  parameters: [
    interfaceOf('interface', 'First interface of the group'),
    interfaceOf('interface2', 'Second interface of the group, the one that fails'),
    profileOf('sessions', 'Sessions over the group and the packets that prove them', 'Sessions'),
    profileOf('ipoe', 'Where the addresses of the sessions come from', 'IPoE'),
    profileOf('lag', 'How the group is agreed on, and how often the link fails', 'Link aggregation'),
    whole('seconds', 120, [10, 86_400], 'How long the link fails and comes back', duration),
  ],
};

export const dot1xShiftChange: BuiltinTemplate = {
  name: '802.1X at shift change',
  description:
    'Many users sign in at the ports of a switch by 802.1X (EAP-MD5) within a short time, then log off and come back. The profile of sessions gives their number, pace and hold time, that of 802.1X users, passwords and patience. Results show the rate and the time of sign-ins, refusals and silence by user. The agent needs CAP_NET_RAW.',
  tags: '802.1x,dot1x,access-plane,access,resilience',
  task: {
    comment: '802.1X at shift change',
    accessPlane: [
      { ...client, interfaces: [param('interface')], sessions: [param('sessions')], dot1x: [param('dot1x')] },
    ],
    configuration: [{ plugin: { id: 101 }, values: forSeconds }],
  },
  slots: [{ name: 'client', role: 'client', requires }],
  parameters: [
    interfaceOf('interface', 'Interface of the agent that is connected to the switch'),
    profileOf('sessions', 'Number and pace of the users, and how long each stays', 'Sessions'),
    profileOf('dot1x', 'Users, passwords and patience; the method is md5', '802.1X'),
    whole('seconds', 120, [10, 86_400], 'How long users come and go', duration),
  ],
};
