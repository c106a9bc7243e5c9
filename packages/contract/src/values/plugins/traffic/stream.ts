import { type Static, Type } from 'typebox';
import { addressPattern, choice, flag, section, whole } from '../../protocols/field.ts';
import { fileId, optionalIdOf, plainCategories } from '../members/reference.ts';
import { frameMembers } from '../members/traffic-members.ts';
import {
  item,
  listOf,
  optionalInteger,
  optionalNumber,
  optionalObject,
  optionalText,
  packetLoad,
  valuesOf,
} from '../members/values.ts';
import { bytes, counter, errorsOf, gauge, latency, loadMetricsOf } from '../metrics.ts';
import { definePlugin } from '../plugin.ts';
import { rfc2544 } from './rfc2544.ts';

const frameBytes = (description: string) => Type.Integer({ minimum: 64, maximum: 16_000, description });

const schema = valuesOf({
  ...frameMembers,
  frameSize: optionalInteger(
    'Bytes of each frame with its check sequence; 64 when left out and no mix is given',
    [64, 16_000],
  ),
  payload: section('What is in the frames', {
    type: choice('After the headers: zeros, chance, `pattern`, a file, or a dictionary', [
      'zero',
      'random',
      'pattern',
      'file',
      'dictionary',
    ]),
    pattern: optionalText('Repeated to the end of the frame'),
    fileId: Type.Optional(fileId('A file that is ready', plainCategories)),
    dictionaryId: optionalIdOf('dictionary', 'A dictionary whose values are sent'),
    mix: listOf(
      'Frame sizes and their shares (IMIX), instead of `frameSize`',
      item({
        frameSize: Type.Integer({ minimum: 64, maximum: 16_000, description: 'Bytes of the frame' }),
        weight: Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000, description: 'Share' }),
      }),
      64,
    ),
    sweep: optionalObject('Every frame size in turn, instead of `frameSize` and `mix`', {
      first: frameBytes('The first size'),
      last: frameBytes('The last size'),
      step: whole('Distance of neighbouring sizes', 1, [1, 16_000]),
    }),
    protocol: choice('What is inside the IP packets; none: their header alone', ['udp', 'tcp', 'icmp', 'none']),
    mpls: listOf(
      'MPLS labels, the outer first',
      item({
        label: Type.Integer({ minimum: 0, maximum: 1_048_575, description: 'Label' }),
        trafficClass: whole('Traffic class', 0, [0, 7]),
        ttl: whole('Time to live', 64, [1, 255]),
      }),
      8,
    ),
    tunnel: optionalObject('A tunnel around the packets', {
      type: choice('Kind', ['gre', 'vxlan']),
      source: Type.String({ maxLength: 45, pattern: addressPattern, description: 'Where it begins' }),
      destination: Type.String({ maxLength: 45, pattern: addressPattern, description: 'Where it ends' }),
      key: optionalInteger('Key of GRE', [0, 4_294_967_295]),
      network: whole('Network identifier of VXLAN', 1, [0, 16_777_215]),
    }),
    modifiers: listOf(
      'Fields that change from frame to frame',
      item({
        field: choice('Field', [
          'sourceMac',
          'destinationMac',
          'vlan',
          'mplsLabel',
          'sourceAddress',
          'sourcePort',
          'destinationPort',
        ]),
        mode: choice('How it changes', ['increment', 'random', 'list']),
        count: whole('Values before the first comes again', 256, [1, 4_294_967_295]),
        step: whole('Distance of neighbouring values', 1, [1, 4_294_967_295]),
        values: listOf(
          'Of `list`: what is added to the value that the field has otherwise',
          Type.Integer({ minimum: 0, maximum: 4_294_967_295 }),
          65_536,
        ),
      }),
      8,
    ),
    rateBps: optionalInteger('Bits a second of all agents together, instead of `packetsPerSecond`', [1, 1e12]),
    linePct: optionalNumber('Percent of what the interface of each agent can carry, instead of `packetsPerSecond`', {
      exclusiveMinimum: 0,
      maximum: 100,
    }),
    rfc2544,
  }),
  ...packetLoad,
  invalidChecksum: flag('Wrong checksums'),
  maxStreams: whole('Streams with addresses and sequence numbers of their own', 1, [1, 1_000_000]),
});
export type StreamValues = Static<typeof schema>;

export const stream = definePlugin({
  id: 7,
  name: 'stream',
  title: 'Stateless streams',
  description: 'Frames written bit for bit at a set rate, layer 2 and 3, and what of them arrives.',
  kind: 'traffic',
  canPause: true,
  canChangeLoad: true,
  hazard: 2,
  engines: ['stream'],
  schema,
  examples: [
    {
      sources: [{ agent: { id: 1 } }],
      targets: [{ agent: { id: 2 } }],
      packetsPerSecond: 100_000,
      payload: {
        mix: [
          { frameSize: 64, weight: 7 },
          { frameSize: 594, weight: 4 },
          { frameSize: 1518, weight: 1 },
        ],
      },
      duration: { mode: 'time', seconds: 10 },
    },
    {
      sources: [{ agent: { id: 1 } }],
      targets: [{ agent: { id: 2 } }],
      payload: { rfc2544: { frameSizes: [64, 512, 1518], tests: ['throughput', 'latency'], trialSec: 10 } },
    },
  ],
  metrics: [
    counter('stream.sent', 'Frames sent', { better: 'higher' }),
    counter('stream.received', 'Frames received', { better: 'higher' }),
    counter('stream.lost', 'Frames that were sent and did not arrive', { better: 'lower' }),
    counter('stream.sequenceErrors', 'Frames out of order or twice', { better: 'lower' }),
    counter('stream.reordered', 'Frames out of order', { better: 'lower' }),
    counter('stream.duplicates', 'Frames that arrived twice', { better: 'lower' }),
    counter('stream.misdirected', 'Frames that arrived where they were not meant for', { better: 'lower' }),
    counter('stream.strays', 'Frames of trials that had ended before they arrived', { better: 'lower' }),
    counter('stream.bufferDrops', 'Frames that arrived and were not looked at in time', { better: 'lower' }),
    counter('stream.queueFull', 'Frames the card had no room for', { better: 'lower' }),
    latency('stream.latency', 'One way'),
    latency('stream.jitter', 'Jitter'),
    bytes('stream.txBytes', 'Bytes sent'),
    bytes('stream.rxBytes', 'Bytes received'),
    gauge('stream.streams', 'Streams under way'),
    errorsOf('stream'),
    ...loadMetricsOf('stream').filter(({ name }) => name !== 'stream.begun'),
  ],
  requires: ['Raw frames on the agent'],
});
