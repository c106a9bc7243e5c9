import { Type } from 'typebox';
import { choice, flag, section, whole } from '../protocols/field.ts';
import { packetLoad } from './load.ts';
import { item, listOf, maybeText, maybeWhole, valuesOf } from './member.ts';
import { bytes, counter, errorsOf, gauge, latency, loadMetricsOf } from './metric.ts';
import { definePlugin } from './plugin.ts';
import { fileId, maybeIdOf, plainCategories } from './reference.ts';
import { frameMembers } from './traffic-members.ts';

const schema = valuesOf({
  ...frameMembers,
  frameSize: maybeWhole(
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
    pattern: maybeText('Repeated to the end of the frame'),
    fileId: Type.Optional(fileId('A file that is ready', plainCategories)),
    dictionaryId: maybeIdOf('dictionary', 'A dictionary whose values are sent'),
    mix: listOf(
      'Frame sizes and their shares (IMIX), instead of `frameSize`',
      item({
        frameSize: Type.Integer({ minimum: 64, maximum: 16_000, description: 'Bytes of the frame' }),
        weight: Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000, description: 'Share' }),
      }),
      64,
    ),
  }),
  ...packetLoad,
  invalidChecksum: flag('Wrong checksums'),
  maxStreams: whole('Streams with addresses and sequence numbers of their own', 1, [1, 1_000_000]),
});

export const stream = definePlugin({
  id: 7,
  name: 'stream',
  title: 'Stateless streams',
  description: 'Frames written bit for bit at a set rate, layer 2 and 3, and what of them arrives.',
  kind: 'traffic',
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
  ],
  metrics: [
    counter('stream.sent', 'Frames sent', { better: 'higher' }),
    counter('stream.received', 'Frames received', { better: 'higher' }),
    counter('stream.lost', 'Frames missing', { better: 'lower' }),
    counter('stream.sequenceErrors', 'Frames out of order or twice', { better: 'lower' }),
    counter('stream.queueFull', 'Frames the card had no room for', { better: 'lower' }),
    latency('stream.latency', 'One way'),
    latency('stream.jitter', 'Jitter'),
    bytes('stream.txBytes', 'Bytes sent'),
    bytes('stream.rxBytes', 'Bytes received'),
    gauge('stream.streams', 'Streams under way'),
    errorsOf('stream'),
    ...loadMetricsOf('stream'),
  ],
  requires: ['Raw frames on the agent'],
});
