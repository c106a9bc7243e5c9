import { type Static, Type } from 'typebox';
import { OneOf, strict } from '../../../schema.ts';
import { choice, flag, section, whole } from '../../protocols/field.ts';
import { headers } from '../members/http-params.ts';
import { fileId, idOf } from '../members/reference.ts';
import { tcpOptions } from '../members/tcp-configuration.ts';
import { tlsParams } from '../members/tls-params.ts';
import { socketMembers } from '../members/traffic-members.ts';
import { item, listOf, milliseconds, optionalInteger, optionalText, valuesOf } from '../members/values.ts';
import { alertsOf, bytes, counter, errorsOf, family, gauge, latency, loadMetricsOf } from '../metrics.ts';
import { definePlugin } from '../plugin.ts';

const texts = (description: string, maxItems = 1000) =>
  listOf(description, Type.String({ minLength: 1, maxLength: 1024 }), maxItems);
const entryIdx = Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Entry of the recording, from 0' });

const correlation = item({
  from: item({
    entryIdx,
    part: OneOf(['body', 'header', 'cookie', 'status'], { description: 'Part of the answer' }),
    regex: optionalText(
      'What to take: the first group, else the whole match, of the body, of lines `name: value` of the header or of lines `name=value` of the cookies that are set (RE2)',
    ),
    jsonPath: optionalText('What to take of a JSON body, such as `$.user.token`'),
  }),
  to: listOf(
    'Where it goes',
    item({
      entryIdx,
      part: OneOf(['url', 'header', 'body'], { description: 'Part of the request' }),
      match: Type.String({ minLength: 1, maxLength: 4096, description: 'Recorded text that is replaced' }),
    }),
    100,
  ),
});

const selection = {
  only: texts('Hosts to play, with * as wildcard; all when empty'),
  skip: texts('Hosts to leave out'),
  urlRegex: optionalText('Addresses to play'),
  methods: listOf('Methods to play; all when empty', Type.String({ pattern: '^[A-Z]{1,32}$' }), 32),
  pages: texts('Pages to play; all when empty'),
  maxEntries: whole('Entries to play; 0 for all', 0, [0, 1_000_000]),
  staticAssets: flag('Images, styles and scripts, too', true),
};

const timing = {
  timing: choice('Pauses between entries', ['original', 'none', 'fixed']),
  minSleepMs: milliseconds('Shorter pauses are left out', 500),
  maxSleepMs: milliseconds('Longer pauses are cut', 30_000),
  fixedSleepMs: milliseconds('Pause in mode fixed', 0),
  batchWindowMs: milliseconds('Entries closer than this go at once', 500),
};

const transport = {
  connections: choice(
    'Connections of a user: shared by the entries that shared one when they were recorded, kept for each host, or new for each entry',
    ['recorded', 'perHost', 'perEntry'],
  ),
  maxPerHost: whole('Most HTTP/1.1 connections of a user to a host', 6, [1, 256]),
  httpVersion: choice(
    'HTTP version; over TLS the server may agree on 1.1 instead of 2, and 3 is sent over QUIC to the same port',
    ['recorded', '1.1', '2', '3'],
  ),
  tls: choice('TLS', ['recorded', 'force', 'off']),
  cookies: choice('Cookies as recorded, from a jar, or none', ['replay', 'jar', 'drop']),
  dropHeaders: texts('Headers that are not sent'),
  redactSecrets: flag('Credentials are replaced by others of the same length, the same ones everywhere', true),
  addHeaders: headers('Headers that are sent in addition; `{{name}}` stands for a variable'),
  cache: flag('Each user keeps answers that may be kept, as browsers do, and does not ask for them again'),
  hostMap: listOf(
    'Recorded names (`app.test`, `*.app.test`, `app.test:8443`) and where they lead: `server` for the server agents, or an index into `targets`; all targets take turns for names that are not here',
    item({ from: Type.String({ minLength: 1, maxLength: 253 }), to: Type.String({ minLength: 1, maxLength: 253 }) }),
  ),
};

const schema = valuesOf({
  ...socketMembers,
  tlsParams,
  tcpConfiguration: tcpOptions,
  harReplayParams: Type.Object(
    {
      fileId: fileId('A HAR that is ready', ['har']),
      ...selection,
      ...timing,
      ...transport,
      server: section('What the answering side does', {
        mode: choice('Answer as recorded, with as many bytes, or with the request', ['recorded', 'size', 'echo']),
        missingBody: choice('Where the recording has no body', ['pad', 'empty']),
        latency: choice('Wait as long as recorded, or not', ['recorded', 'none']),
        latencyFactor: Type.Number({ default: 1, minimum: 0, maximum: 100, description: 'Times the recorded wait' }),
        status: choice('Status', ['recorded']),
      }),
      correlate: listOf('Values of answers that go into later requests', correlation),
      variables: listOf(
        'Values from dictionaries, another one each time the recording is played, for `{{name}}` in addresses, headers and bodies',
        item({
          name: Type.String({ minLength: 1, maxLength: 128 }),
          dictionaryId: idOf('dictionary', 'Dictionary'),
          column: optionalText('Column'),
        }),
      ),
      checks: section('What makes an answer good', {
        status: flag('The recorded status', true),
        bodySize: flag('The recorded size'),
        bodySha256: flag('The recorded content'),
      }),
      users: whole('Users at once, of all agents together', 1, [1, 1_000_000]),
      iterations: whole('Times each user plays it', 1, [1, 1_000_000_000]),
      loop: flag('Until the end instead'),
    },
    { ...strict, description: 'The recording and how it is played' },
  ),
  sessionsPerSecond: optionalInteger('Users that begin in a second', [1, 1_000_000]),
});

export type HarReplayValues = Static<typeof schema>;

export const harReplay = definePlugin({
  id: 9,
  name: 'har-replay',
  title: 'HAR replay',
  description: 'Plays what a browser recorded, with an agent as the server of every recorded host.',
  kind: 'traffic',
  hazard: 0,
  engines: ['har-replay'],
  schema,
  examples: [
    {
      sources: [{ agent: { id: 1 } }],
      targets: [{ agent: { id: 2 } }],
      harReplayParams: { fileId: 1, users: 5, loop: true, timing: 'none' },
      duration: { mode: 'time', seconds: 60 },
    },
  ],
  metrics: [
    ...alertsOf('har-replay'),
    counter('har-replay.pages', 'Pages played', { better: 'higher' }),
    counter('har-replay.requests', 'Requests sent', { better: 'higher' }),
    counter('har-replay.ok', 'Answers as recorded', { better: 'higher' }),
    counter('har-replay.ko', 'Answers otherwise', { better: 'lower' }),
    family('har-replay.status', 'status', 'Answers by status'),
    family('har-replay.koStatus', 'status', 'Answers otherwise, by status', 'lower'),
    counter('har-replay.iterations', 'Times the recording was played to its end', { better: 'higher' }),
    counter('har-replay.cached', 'Entries that were not asked for because the answer was kept'),
    counter('har-replay.notFound', 'Values that answers should have held and did not', { better: 'lower' }),
    counter('har-replay.connections', 'Connections opened'),
    counter('har-replay.served', 'Requests answered by the server'),
    counter('har-replay.similar', 'Requests answered as the most similar one that was recorded'),
    counter('har-replay.missed', 'Requests that nothing like was recorded for', { better: 'lower' }),
    gauge('har-replay.users', 'Users at work'),
    latency('har-replay.page', 'Pages, without pauses'),
    latency('har-replay.entry', 'Entries'),
    latency('har-replay.delta', 'How much slower than recorded'),
    bytes('har-replay.txBytes', 'Bytes sent'),
    bytes('har-replay.rxBytes', 'Bytes received'),
    ...loadMetricsOf('har-replay'),
    errorsOf('har-replay'),
  ],
});
