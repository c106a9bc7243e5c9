import { type Static, Type } from 'typebox';
import { optional, strict } from '../../../schema.ts';
import { choice, flag, section, whole } from '../../protocols/field.ts';
import { idOf, optionalIdOf } from '../members/reference.ts';
import { sessionTlsParams } from '../members/tls-params.ts';
import { socketMembers } from '../members/traffic-members.ts';
import {
  item,
  listOf,
  optionalInteger,
  optionalNumber,
  optionalObject,
  optionalRate,
  optionalText,
  valuesOf,
} from '../members/values.ts';
import {
  alertsOf,
  bytes,
  counter,
  errorsOf,
  family,
  gauge,
  generatorMetrics,
  latency,
  loadMetricsOf,
} from '../metrics.ts';
import { definePlugin } from '../plugin.ts';

const speedMembers = {
  mode: choice('As recorded, at a set rate, or as fast as possible', ['original', 'bps', 'pps', 'max']),
  value: optionalNumber('Bits or packets a second in the modes bps and pps', { minimum: 0, maximum: 1e12 }),
  multiplier: Type.Number({
    default: 1,
    exclusiveMinimum: 0,
    maximum: 1000,
    description: 'Speed multiplier in mode original',
  }),
};

/** Replay speed of a recording. */
export const speed = section('How fast', speedMembers);
const optionalSpeed = optionalObject('How fast; as the application says when left out', speedMembers);

const parameter = item({
  name: Type.String({ minLength: 1, maxLength: 128, description: 'Parameter of the application' }),
  value: optional.text(65_536, 'Its value'),
  dictionaryId: optionalIdOf('dictionary', 'Dictionary of values, instead of `value`'),
  column: optionalText('Column of the dictionary'),
});

const played = item({
  applicationId: idOf('application', 'Application to play'),
  weight: Type.Number({ default: 1, exclusiveMinimum: 0, maximum: 1_000_000, description: 'Share among several' }),
  users: whole('Users at once; 0 as the application says', 0, [0, 1_000_000]),
  iterations: whole('Times each user plays it; 0 until the end', 0, [0, 1_000_000_000]),
  speed: optionalSpeed,
  sessions: listOf(
    'Sessions to play otherwise or not at all',
    item({
      sessionIndex: Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Index of the session' }),
      enabled: flag('Play it', true),
      speed: optionalSpeed,
    }),
    10_000,
  ),
  parameters: listOf('Values of parameters', parameter),
});

const schema = valuesOf({
  ...socketMembers,
  tlsParams: sessionTlsParams,
  sessionsPerSecond: optionalRate(
    'Sessions begun a second by all agents together; without it users play one round after another',
  ),
  applicationParams: Type.Object(
    {
      applications: Type.Array(played, { minItems: 1, maxItems: 100, description: 'Applications, mixed by weight' }),
      match: choice(
        'What must come: the same bytes, as many, or any; http: messages of HTTP that say the same, with what a proxy may rightly change (hop-by-hop fields, Host, Via, Forwarded, Server, Date, framing), everything else the same bytes',
        ['exact', 'length', 'any', 'http'],
      ),
      timeoutMs: optionalInteger('Longest wait for a step; as the application says when left out', [1, 3_600_000]),
      onMismatch: choice('When something else comes', ['continue', 'stopSession', 'stopTask']),
      portMode: choice('Ports of the server: as recorded, by `targets`, or one for each user', [
        'recorded',
        'mapped',
        'perSlot',
      ]),
    },
    { ...strict, description: 'Applications and how they are played' },
  ),
});

export type ApplicationValues = Static<typeof schema>;

export const application = definePlugin({
  id: 10,
  name: 'application',
  title: 'Application',
  description:
    'Plays the sessions of applications on both sides by real sockets, and tells when a device changed bytes.',
  kind: 'traffic',
  hazard: 1,
  canPause: true,
  canChangeLoad: true,
  engines: ['application'],
  schema,
  examples: [
    {
      sources: [{ agent: { id: 1 } }],
      targets: [{ agent: { id: 2 } }],
      applicationParams: { applications: [{ applicationId: 1, users: 10 }] },
      duration: { mode: 'time', seconds: 60 },
    },
    {
      sources: [{ agent: { id: 1 } }],
      targets: [{ agent: { id: 2 } }],
      tlsParams: { versions: ['1.3'] },
      applicationParams: { applications: [{ applicationId: 1 }], portMode: 'mapped' },
      duration: { mode: 'time', seconds: 60 },
    },
  ],
  metrics: [
    counter('application.ok', 'Sessions played to their end', { better: 'higher' }),
    counter('application.ko', 'Sessions that failed', { better: 'lower' }),
    counter('application.exchanges', 'Exchanges done', { better: 'higher' }),
    counter('application.mismatches', 'Steps that came changed', { better: 'lower' }),
    family('application.mismatch', 'step', 'Changed steps by session and step', 'lower'),
    gauge('application.users', 'Users at work'),
    latency('application.exchange', 'Exchanges'),
    bytes('application.txBytes', 'Bytes sent'),
    bytes('application.rxBytes', 'Bytes received'),
    ...alertsOf('application'),
    errorsOf('application'),
    ...loadMetricsOf('application'),
    ...generatorMetrics,
  ],
});
