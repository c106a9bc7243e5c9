import { type BuiltinTemplate, duration, ends, param, record, whole } from '../builtin-template.ts';

const [client] = ends.sources;
const [server] = ends.targets;
const seconds = { duration: { mode: 'time', seconds: param('seconds') } };
const interfaceOf = (what: string) => record('interface', 'interface', `Interface of the agent ${what}`);
const profileOf = (protocol: string, description: string) =>
  record('profile', 'dictionary', `Protocol profile: ${description}`, {
    ...{ label: 'Profile', category: `protocol.${protocol}` },
  });

/** Emulated routers alone: the test is whether the router under test keeps up with them. */
const routers = (protocol: 'bgp' | 'ospf') => ({
  controlPlane: [{ ...client, interfaces: [[param('interface')]], [protocol]: [param('profile')] }],
  configuration: [{ plugin: { id: 102 }, values: seconds }],
});
const routerSlots = [{ name: 'client', role: 'client' as const, requires: ['plane.control'] }];

export const bgpFullTable: BuiltinTemplate = {
  name: 'Full BGP table to a router',
  description:
    'An emulated router announces a table of prefixes to the router under test over BGP. The profile gives the addresses of both ends, the AS numbers and the number of prefixes (`routes.ipv4Count`, such as 1,000,000). Results list the session with the routes sent and received; announce, withdraw and disconnect are commands while it runs.',
  tags: 'bgp,routing,control-plane,access',
  task: { comment: 'Full BGP table to a router', ...routers('bgp') },
  slots: routerSlots,
  parameters: [
    interfaceOf('that is connected to the router'),
    profileOf('bgp', 'addresses, AS numbers and routes'),
    whole('seconds', 300, [10, 86_400], 'How long the test runs', duration),
  ],
};

export const bgpTableOfFile: BuiltinTemplate = {
  name: 'Full BGP table from an MRT file',
  description:
    'An emulated router announces the routes of an MRT file to the router under test over BGP, with the paths, communities and other attributes of the file. Upload a table of a route collector (TABLE_DUMP_V2, plain or gzip) and name it in the profile (`imported.fileID`), which also gives the addresses of both ends and the AS numbers. Results list the session with the routes sent.',
  tags: 'bgp,mrt,routing,control-plane,access',
  task: { comment: 'Full BGP table from an MRT file', ...routers('bgp') },
  slots: routerSlots,
  parameters: [
    interfaceOf('that is connected to the router'),
    profileOf('bgp', 'addresses, AS numbers and the MRT file'),
    whole('seconds', 300, [10, 86_400], 'How long the test runs', duration),
  ],
};

export const evpnFabric: BuiltinTemplate = {
  name: 'EVPN fabric',
  description:
    'Two emulated leaf routers announce EVPN instances, their hosts and networks to the router under test over BGP. The profile of BGP gives the addresses, the AS numbers and the family `l2vpn-evpn`; the one of EVPN the instances, route types, segments and hosts, and how often a host moves to the other router. Results list both sessions with the routes sent and received.',
  tags: 'evpn,vxlan,bgp,fabric,routing,control-plane,access',
  task: {
    comment: 'EVPN fabric',
    controlPlane: [
      {
        ...client,
        interfaces: [[param('interface')], [param('interface')]],
        bgp: [param('profile')],
        evpn: [param('evpnProfile')],
      },
    ],
    configuration: [{ plugin: { id: 102 }, values: seconds }],
  },
  slots: routerSlots,
  parameters: [
    interfaceOf('that is connected to the router'),
    profileOf('bgp', 'addresses, AS numbers and the family l2vpn-evpn'),
    record('evpnProfile', 'dictionary', 'Protocol profile: instances, segments and hosts', {
      ...{ label: 'EVPN profile', category: 'protocol.evpn' },
    }),
    whole('seconds', 300, [10, 86_400], 'How long the test runs', duration),
  ],
};

export const ospfArea: BuiltinTemplate = {
  name: 'OSPF area of routers',
  description:
    'An emulated router floods a generated area of routers and prefixes to the router under test over OSPF. The profile gives the shape and size of the area (`topology.kind`, `topology.nodes`, such as 1,000) and how often a metric changes. Results list the neighbour with the size of its database.',
  tags: 'ospf,routing,control-plane,access',
  task: { comment: 'OSPF area of routers', ...routers('ospf') },
  slots: routerSlots,
  parameters: [
    interfaceOf('that is connected to the router'),
    profileOf('ospf', 'area, network type and topology'),
    whole('seconds', 300, [10, 86_400], 'How long the test runs', duration),
  ],
};

export const convergenceAfterFailure: BuiltinTemplate = {
  name: 'Convergence after a link failure',
  description:
    'Numbered flows at an even rate from one agent through the routers under test to the other. Fail a link or withdraw routes while it runs: results list the lost packets, the loss duration and the convergence time of each flow, with the distribution over all flows.',
  tags: 'convergence,routing,failover,resilience',
  task: {
    comment: 'Convergence after a link failure',
    configuration: [
      {
        plugin: { id: 20 },
        values: {
          sources: [client],
          targets: [server],
          convergenceFlows: param('flows'),
          packetsPerSecond: param('pps'),
          frameSize: param('frameSize'),
          ...seconds,
        },
      },
    ],
  },
  slots: [
    { name: 'client', role: 'client', requires: ['convergence'] },
    { name: 'server', role: 'server', requires: ['convergence'] },
  ],
  parameters: [
    whole('flows', 100, [1, 1_000_000], 'Flows, each with its own ports and sequence numbers'),
    whole('pps', 100_000, [1, 10_000_000], 'Packets per second of all flows: the resolution is flows ÷ packets'),
    whole('frameSize', 128, [84, 1518], 'Frame size in bytes'),
    whole('seconds', 60, [1, 86_400], 'How long the test runs', duration),
  ],
};

export const rdmaIncast: BuiltinTemplate = {
  name: 'RDMA incast',
  description:
    'Queue pairs of RoCEv2 from one agent write to another through the fabric under test, with ECN, congestion notifications and DCQCN. Add agents to the sources to make the receiver the bottleneck. Results show message latency, packets sent again, the share of marked packets and the rate that rate control settles at.',
  tags: 'rdma,rocev2,incast,fabric,congestion,performance',
  task: {
    comment: 'RDMA incast',
    configuration: [
      {
        plugin: { id: 14 },
        values: {
          sources: [client],
          targets: [server],
          rocev2Params: {
            verb: 'write',
            messageSize: param('messageSize'),
            qps: param('qps'),
            dscp: 26,
            ecn: 2,
            cnp: { dscp: 48, delayUs: 50 },
            dcqcn: {},
          },
          ...seconds,
        },
      },
    ],
  },
  slots: [
    { name: 'client', role: 'client', requires: ['rocev2'] },
    { name: 'server', role: 'server', requires: ['rocev2'] },
  ],
  parameters: [
    whole('messageSize', 65_536, [1, 1_073_741_824], 'Bytes of a message'),
    whole('qps', 16, [1, 65_536], 'Queue pairs', { label: 'Queue pairs' }),
    whole('seconds', 30, [1, 86_400], 'How long the test runs', duration),
  ],
};
