import { duration, valuesOf } from './members/values.ts';
import { counter, family, gauge, gaugeFamily, latency } from './metrics.ts';
import { definePlugin } from './plugin.ts';

export const suite = definePlugin({
  id: 21,
  name: 'suite',
  title: 'Suite',
  description:
    'Several plugins as stages of one run. Its `subplugins.subplugins` are entries with `startAfterSec` and `order`: those of the same order begin together, each its `startAfterSec` later; the next order begins when all before have had their time. `subplugins.duration` limits the whole. It is as hazardous as its worst child.',
  kind: 'traffic',
  hazard: 0,
  canPause: true,
  canChangeLoad: true,
  engines: [],
  schema: valuesOf({}),
  examples: [{}],
  metrics: [],
  subplugins: {
    allowed: true,
    rule: 'One to 100 entries of any plugin but suites and planes. Only the last order may hold entries that end by count or by hand.',
  },
});

const schema = valuesOf({ duration });

/** Steps of the setup of an access session, in their order. */
const setupSteps = [
  'dot1x',
  'discovery',
  'request',
  'tunnel',
  'call',
  'lcp',
  'authentication',
  'network',
  'dhcp',
  'gateway',
  'ipv6',
] as const;

export const accessPlane = definePlugin({
  id: 101,
  name: 'plane.access',
  title: 'Access plane',
  description:
    'Subscribers and their protocols as the task’s `accessPlane` describes them with dictionaries of type `protocol.<name>`. A task with `accessPlane` runs it by itself; an entry of this plugin only says how long.',
  kind: 'access-plane',
  hazard: 1,
  engines: ['plane.access'],
  schema,
  examples: [{ duration: { mode: 'time', seconds: 60 } }],
  metrics: [
    gauge('access.sessions', 'Sessions wanted'),
    gauge('access.established', 'Sessions established', { better: 'higher' }),
    counter('access.flapped', 'Sessions that broke off', { better: 'lower' }),
    gauge('access.setupRate', 'Sessions established in a second', { unit: '1/s', better: 'higher' }),
    latency('access.setup', 'Time until a session is established'),
    family('access.tx', 'protocol', 'Messages sent by protocol'),
    family('access.rx', 'protocol', 'Messages received by protocol'),
    family('access.timeouts', 'protocol', 'Messages without an answer by protocol', 'lower'),
    latency('access.join', 'Delay of joining a multicast group'),
    latency('access.leave', 'Delay of leaving a multicast group'),
    family('access.failures', 'cause', 'Failed setups and broken sessions by cause', 'lower'),
    counter('access.proofSent', 'Packets sent to prove that sessions work'),
    counter('access.proofReceived', 'Answers to packets that prove that sessions work', { better: 'higher' }),
    ...setupSteps.map((step) => latency(`access.step.${step}`, `Time of the step ${step} of a setup`)),
    gaugeFamily('access.inStep', 'step', 'Sessions in each step of their setup, and in each state outside of it'),
    gauge('access.activeLinks', 'Links of groups that carry traffic', { better: 'higher' }),
    counter('access.linkChanges', 'Links of groups that began or ceased to carry traffic', { better: 'lower' }),
    gauge('access.linesUp', 'Lines that are up by ANCP', { better: 'higher' }),
    counter('access.lineChanges', 'Reports of ANCP that a line has gone up or down', { better: 'lower' }),
    counter('access.topologyChanges', 'Topology changes that a bridge has made or heard of', { better: 'lower' }),
    counter('access.rootChanges', 'Changes of the root of a spanning tree', { better: 'lower' }),
    latency('access.clockOffset', 'Distance of an emulated clock from its leader'),
    latency('access.pathDelay', 'Delay of the link of an emulated clock'),
    counter('access.leaderChanges', 'Changes of the leader of an emulated clock', { better: 'lower' }),
    counter('access.packetIns', 'Packets that OpenFlow switches have sent up to their controller'),
    counter('access.packetOuts', 'Packets that the controller has sent through OpenFlow switches'),
    counter('access.flowMods', 'Changes of flows that the controller has made'),
    gauge('access.flows', 'Flows in the tables of OpenFlow switches'),
    latency('access.packetInLatency', 'Time until the controller sends a packet back that a switch has sent up'),
    counter('access.framesWithoutLink', 'Frames that found no link of their group', { better: 'lower' }),
  ],
  requires: ['An agent that may send raw frames, and a free interface'],
});

export const controlPlane = definePlugin({
  id: 102,
  name: 'plane.control',
  title: 'Control plane',
  description:
    'Routers and their protocols as the task’s `controlPlane` describes them with dictionaries of type `protocol.<name>`. A task with `controlPlane` runs it by itself; an entry of this plugin only says how long.',
  kind: 'control-plane',
  hazard: 1,
  engines: ['plane.control'],
  schema,
  examples: [{ duration: { mode: 'time', seconds: 60 } }],
  metrics: [
    gauge('control.sessionsUp', 'Sessions with neighbours', { better: 'higher' }),
    counter('control.flaps', 'Sessions that broke off', { better: 'lower' }),
    counter('control.prefixesSent', 'Prefixes announced'),
    counter('control.prefixesReceived', 'Prefixes learned'),
    gauge('control.lsdbSize', 'Entries of the link-state database'),
    latency('control.adjacency', 'Time until neighbours agree'),
    latency('control.bfdDetect', 'Time until a failure is noticed'),
    latency('control.join', 'Delay of joining a multicast group'),
    latency('control.leave', 'Delay of leaving a multicast group'),
    family('control.tx', 'protocol', 'Messages sent by protocol'),
    family('control.rx', 'protocol', 'Messages received by protocol'),
  ],
  requires: ['An agent that may send raw frames, with an interface towards the router under test'],
});
