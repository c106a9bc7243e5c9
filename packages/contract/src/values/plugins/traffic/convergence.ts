import { type Static, Type } from 'typebox';
import { choice, section, whole } from '../../protocols/field.ts';
import { frameMembers } from '../members/traffic-members.ts';
import { address, listOf, optionalInteger, packetLoad, valuesOf } from '../members/values.ts';
import { bytes, counter, errorsOf, gauge, latency, loadMetricsOf } from '../metrics.ts';
import { definePlugin } from '../plugin.ts';

const schema = valuesOf({
  ...frameMembers,
  convergenceFlows: whole('Flows that are watched', 1, [1, 1_000_000]),
  convergenceEncapsulation: section('What is around the packets', {
    type: choice('Encapsulation', ['none', 'vlan', 'mpls', 'vxlan', 'gre']),
    vlanId: optionalInteger('VLAN', [0, 4094]),
    labels: listOf('MPLS labels, the outer first', Type.Integer({ minimum: 0, maximum: 1_048_575 }), 8),
    vni: optionalInteger('VXLAN network', [0, 16_777_215]),
    key: optionalInteger('GRE key', [0, 4_294_967_295]),
    localIp: address('Outer address of the sender'),
    remoteIp: address('Outer address of the receiver'),
  }),
  ...packetLoad,
  frameSize: optionalInteger('Bytes of the whole Ethernet frame', [70, 9216]),
});
export type ConvergenceValues = Static<typeof schema>;

export const convergence = definePlugin({
  id: 20,
  name: 'convergence',
  title: 'Convergence',
  description:
    'Numbered flows at an even rate, and how long each of them is interrupted when links go down or routes are withdrawn by the control plane.',
  kind: 'traffic',
  hazard: 1,
  engines: ['convergence'],
  schema,
  examples: [
    {
      sources: [{ agent: { id: 1 } }],
      targets: [{ agent: { id: 2 } }],
      convergenceFlows: 10,
      packetsPerSecond: 10_000,
      duration: { mode: 'time', seconds: 60 },
    },
  ],
  metrics: [
    counter('convergence.sent', 'Packets sent', { better: 'higher' }),
    counter('convergence.received', 'Packets received', { better: 'higher' }),
    counter('convergence.lost', 'Packets missing', { better: 'lower' }),
    counter('convergence.lossDurationMs', 'How long losses lasted, mean over all flows', {
      unit: 'ms',
      better: 'lower',
    }),
    latency('convergence.dataPlane', 'From the fall of the rate below to its rise above the threshold'),
    latency('convergence.controlToDataPlane', 'From the event to the recovery'),
    gauge('convergence.flowsDown', 'Flows that are interrupted', { better: 'lower' }),
    counter('convergence.events', 'Events of the control plane'),
    gauge('convergence.streams', 'Flows under way'),
    counter('convergence.reordered', 'Packets out of order', { better: 'lower' }),
    counter('convergence.duplicates', 'Packets that arrived twice', { better: 'lower' }),
    counter('convergence.bufferDrops', 'Packets that arrived and were not looked at in time', { better: 'lower' }),
    counter('convergence.queueFull', 'Packets the card had no room for', { better: 'lower' }),
    bytes('convergence.txBytes', 'Bytes sent'),
    bytes('convergence.rxBytes', 'Bytes received'),
    errorsOf('convergence'),
    ...loadMetricsOf('convergence').filter(({ name }) => name !== 'convergence.begun'),
  ],
  requires: ['Raw frames on the agent'],
});
