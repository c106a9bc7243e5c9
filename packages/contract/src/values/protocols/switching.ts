import { Type } from 'typebox';
import { StrictObject } from '../../schema.ts';
import { choice, flag, flaps, numbered, optionalAddress, optionalMac, profile, section, text, whole } from './field.ts';

export const stp = profile('Spanning tree: STP, RSTP or MSTP (IEEE 802.1Q)', {
  bridge: section('The emulated bridge', {
    version: choice('Protocol', ['rstp', 'stp', 'mstp']),
    priority: Type.Integer({
      description: 'Bridge priority, a multiple of 4096; the lowest becomes root',
      default: 32_768,
      minimum: 0,
      maximum: 61_440,
      multipleOf: 4096,
    }),
    address: optionalMac('Bridge address; the address of the interface when left out'),
    helloSec: whole('Time between BPDUs', 2, [1, 10]),
    maxAgeSec: whole('Life of what a BPDU says', 20, [6, 40]),
    forwardDelaySec: whole('Time in listening and learning', 15, [4, 30]),
    txHoldCount: whole('BPDUs sent a second at most', 6, [1, 10]),
  }),
  port: section('Its ports', {
    priority: Type.Integer({
      description: 'Port priority, a multiple of 16',
      default: 128,
      minimum: 0,
      maximum: 240,
      multipleOf: 16,
    }),
    pathCost: whole('Cost; 0 takes the one of the link speed', 0, [0, 200_000_000]),
    edge: flag('Nothing but hosts behind the port'),
    pointToPoint: flag('One bridge at the other end', true),
  }),
  mst: section('Regions of MSTP', {
    region: text('Name of the region', 'rushhour', 32),
    revision: whole('Revision of its table', 0, [0, 65_535]),
    instances: Type.Array(
      StrictObject({
        id: Type.Integer({ minimum: 1, maximum: 4094 }),
        vlans: Type.String({ pattern: '^[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*$', maxLength: 1024 }),
        priority: Type.Integer({ default: 32_768, minimum: 0, maximum: 61_440, multipleOf: 4096 }),
      }),
      { description: 'Instances and the VLANs they carry, e.g. "10-19,30"', default: [], maxItems: 64 },
    ),
  }),
  events: section('What the bridge does to its neighbours', {
    topologyChangeSec: whole('Time between topology changes; 0 for none', 0, [0, 86_400]),
    claimRootSec: whole('Time between attempts to become root; 0 for none', 0, [0, 86_400]),
  }),
});

export const openflow = profile('OpenFlow switches that connect to a controller under test', {
  channel: section('Connection to the controller', {
    controllerAddress: optionalAddress('Address of the controller; unset waits for it'),
    port: whole('TCP port', 6653, [1, 65_535]),
    version: choice('Newest version offered', ['1.3', '1.0', '1.1', '1.2', '1.4', '1.5']),
    tls: flag('Use TLS'),
    echoSec: whole('Time between echo requests', 15, [1, 3600]),
    reconnectMs: whole('Wait before connecting again', 1000, [10, 600_000]),
  }),
  switch: section('The emulated switches', {
    count: whole('Switches', 1, [1, 10_000]),
    datapathIdStart: Type.String({
      description: 'First datapath id, hexadecimal',
      default: '0000000000000001',
      pattern: '^[0-9a-fA-F]{16}$',
    }),
    ports: whole('Ports of each', 4, [1, 65_279]),
    tables: whole('Flow tables of each', 1, [1, 254]),
    maxFlows: whole('Entries of each table', 10_000, [1, 10_000_000]),
    description: numbered('Description', 'rushhour switch {n}'),
  }),
  load: section('Work for the controller', {
    packetInPerSec: whole('Packets sent up, a second and switch', 0, [0, 1_000_000]),
    hosts: whole('Hosts behind each switch', 2, [0, 1_000_000]),
    topology: choice('How switches are linked', ['line', 'ring', 'star', 'mesh', 'none']),
  }),
  flaps: flaps('the channel'),
});
