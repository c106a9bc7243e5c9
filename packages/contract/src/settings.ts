import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { OneOf, optional, StrictComponent, StrictObject } from './schema.ts';
import { writeOnlySecret } from './secret.ts';

const section = <P extends TProperties>(members: P) => StrictObject(members);
const integer = (value: number, [minimum, maximum]: [number, number], description: string) =>
  Type.Integer({ default: value, minimum, maximum, description });

export const secretMask = '********';

const auth = section({
  accessTtlSec: integer(900, [60, 86_400], 'Life of an access token'),
  refreshTtlSec: integer(604_800, [300, 31_536_000], 'Life of a refresh token; every refresh starts it anew'),
  absoluteTtlSec: integer(2_592_000, [300, 31_536_000], 'Longest life of a session'),
  password: section({
    minLength: integer(12, [8, 64], 'Shortest password a user may set'),
    refuseCommon: Type.Boolean({ default: true, description: 'Refuse passwords from the common-password list' }),
  }),
  lockout: section({
    freeFailures: integer(4, [1, 100], 'Wrong passwords in a row before waiting times begin'),
    maxDelaySec: integer(900, [1, 86_400], 'Longest waiting time; it doubles up to this'),
  }),
});

const agents = section({
  heartbeatSec: integer(2, [1, 60], 'Time between heartbeats'),
  suspectAfterSec: integer(6, [2, 600], 'Silence after which an agent is suspect'),
  lostAfterSec: integer(20, [5, 3600], 'Silence after which an agent is lost'),
  deadManSec: integer(60, [5, 3600], 'Silence of the controller after which an agent ends its traffic by itself'),
  maxReservationSec: integer(86_400, [60, 2_592_000], 'Longest reservation'),
  minVersion: Type.String({
    default: '0.0.0',
    pattern: '^\\d{1,9}\\.\\d{1,9}\\.\\d{1,9}$',
    description: 'Oldest agent version',
  }),
});

const tasks = section({
  maxConcurrent: integer(16, [1, 10_000], 'Runs at once'),
  agentLossPolicy: OneOf(['auto', 'fail', 'continue', 'stop'], {
    default: 'auto',
    description: 'When an agent is lost',
  }),
  queueTimeoutSec: integer(3600, [5, 604_800], 'Longest wait for agents and a free place'),
  prepareTimeoutSec: integer(120, [5, 3600], 'Longest preparation'),
  maxPauseSec: integer(3600, [5, 604_800], 'Longest pause'),
  stopTimeoutSec: integer(60, [5, 3600], 'How long a run may take to stop before it is aborted'),
  recoveryGraceSec: integer(60, [5, 3600], 'Wait for agents after a restart of the controller'),
  metricsStepSec: integer(1, [1, 60], 'Time between samples'),
  hazardRequiresReason: Type.Boolean({ default: false, description: 'Hazardous runs need a reason' }),
  allowedTargets: Type.Array(Type.String({ minLength: 2, maxLength: 64 }), {
    default: [
      '127.0.0.0/8',
      '10.0.0.0/8',
      '172.16.0.0/12',
      '192.168.0.0/16',
      '169.254.0.0/16',
      '::1/128',
      'fc00::/7',
      'fe80::/10',
    ],
    maxItems: 256,
    description: 'Address ranges that may receive traffic besides the agents themselves',
  }),
});

const limits = section({
  bodyBytes: integer(1_048_576, [4096, 67_108_864], 'Largest JSON body'),
  uploadBytes: integer(4_294_967_296, [1_048_576, 1_099_511_627_776], 'Largest upload'),
  allListMax: integer(5000, [100, 100_000], 'Most records an unpaged list answers'),
  streamsPerUser: integer(10, [1, 1000], 'Event streams a user may hold open'),
  rate: integer(600, [60, 100_000_000], 'Requests a minute and session'),
});

const retention = section({
  runsDays: integer(365, [1, 36_500], 'Results are kept'),
  dumpsDays: integer(30, [1, 36_500], 'Packet dumps are kept'),
  logsDays: integer(30, [1, 36_500], 'Logs are kept'),
  notificationsDays: integer(90, [1, 36_500], 'Notifications are kept'),
  trashDays: integer(14, [1, 3650], 'File contents that no record refers to are kept in the trash'),
  diskHighPct: integer(90, [10, 99], 'Disk use above which new runs are refused'),
});

const dumps = section({
  maxBytesPerRun: integer(1_073_741_824, [1_048_576, 1_099_511_627_776], 'Packet dumps of one run'),
  defaultSavelen: integer(65_535, [64, 262_144], 'Bytes kept of each packet'),
});

const agreement = section({
  required: Type.Boolean({ default: false, description: 'Users must accept the text before they go on' }),
  text: Type.String({ default: '', maxLength: 100_000 }),
});

const Webhook = section({
  url: Type.String({ pattern: '^https?://', maxLength: 2048 }),
  events: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    maxItems: 64,
    description: 'Kinds of notifications; `run.*` stands for all that begin so, `*` for all',
  }),
  secret: optional.string({ maxLength: 256, ...writeOnlySecret, description: 'Signs the call; reads back masked' }),
});

const mail = section({
  host: Type.String({ default: '', maxLength: 253 }),
  port: integer(587, [1, 65_535], 'SMTP port'),
  tls: OneOf(['none', 'starttls', 'tls'], { default: 'starttls' }),
  user: Type.String({ default: '', maxLength: 254 }),
  password: Type.String({ default: '', maxLength: 256, ...writeOnlySecret, description: 'Reads back masked' }),
  from: Type.String({ default: '', maxLength: 254 }),
  events: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    default: [],
    maxItems: 64,
    description: 'Kinds of notifications that are mailed to those they are for; `run.*`, `*` as for webhooks',
  }),
});

const delivery = section({
  allowPrivateTargets: Type.Boolean({
    default: false,
    description: 'Webhooks may call loopback and private addresses; link-local ones never',
  }),
});

const MetricsOutput = section({
  type: OneOf(['prometheus', 'otlp', 'influx', 'jsonLines'], {
    description: 'Prometheus remote write, OTLP over HTTP (JSON), InfluxDB line protocol, or JSON lines in a file',
  }),
  target: Type.String({
    minLength: 1,
    maxLength: 2048,
    description:
      'The address to post to, such as http://prometheus:9090/api/v1/write; for jsonLines the name of a file in the folder metrics of the data folder',
  }),
  authorization: optional.string({
    maxLength: 4096,
    ...writeOnlySecret,
    description: 'Authorization header; reads back masked',
  }),
  taskIDs: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
      maxItems: 256,
      description: 'Only of these tasks; all when left out',
    }),
  ),
});

const metrics = section({
  runsAtMetrics: Type.Boolean({
    default: false,
    description: 'Values of running tasks, with their names, are part of /metrics, which everyone can read',
  }),
  outputs: Type.Array(MetricsOutput, {
    default: [],
    maxItems: 8,
    description: 'Receivers of the metrics of runs, each second; private addresses need delivery.allowPrivateTargets',
  }),
});

const FreezeWindow = section({
  from: Type.String({ format: 'date-time' }),
  to: Type.String({ format: 'date-time' }),
  reason: optional.text(256),
});

const ai = section({
  enabled: Type.Boolean({
    default: true,
    description: 'The AI gateway answers; nobody can use it before an administrator makes a key',
  }),
  allowAutoR2: Type.Boolean({ default: false, description: 'Keys may be allowed to make traffic unconfirmed' }),
  keyTtlDays: integer(90, [1, 365], 'Life of a new key unless said'),
  freeze: Type.Array(FreezeWindow, {
    default: [],
    maxItems: 100,
    description: 'Times in which keys make no traffic, whatever their policy',
  }),
});

const malware = section({
  allowNonInert: Type.Boolean({
    default: false,
    description: 'Samples that are no inert test files may be released from quarantine and used by tasks',
  }),
  allowUpload: Type.Boolean({ default: true, description: 'Samples may be uploaded; they go into quarantine' }),
  maxBytes: integer(268_435_456, [1024, 1_073_741_824], 'Largest sample'),
});

/** All settings of the controller, with their defaults. */
export const Settings = StrictComponent('Settings', {
  auth,
  agents,
  tasks,
  limits,
  retention,
  dumps,
  agreement,
  webhooks: Type.Array(Webhook, { default: [], maxItems: 32 }),
  mail,
  delivery,
  metrics,
  ai,
  malware,
});
export type Settings = Static<typeof Settings>;

type DeepPartial<T> = T extends readonly unknown[] ? T : T extends object ? { [K in keyof T]?: DeepPartial<T[K]> } : T;
export type SettingsPatch = DeepPartial<Settings>;

const partialOf = (schema: TSchema): TSchema => {
  const { default: _, ...rest } = schema as TSchema & { default?: unknown };
  if (!('properties' in schema)) return rest as TSchema;
  const members = Object.entries(schema.properties as TProperties).map(([name, member]) => [name, partialOf(member)]);
  return { ...rest, properties: Object.fromEntries(members), required: [], title: undefined } as unknown as TSchema;
};

/** The body of a change: the same tree, every member optional, without defaults. */
export const SettingsPatch = partialOf(Settings);

const defaultOf = (schema: TSchema): unknown =>
  'default' in schema
    ? schema.default
    : Object.fromEntries(
        Object.entries((schema as unknown as { properties: TProperties }).properties).map(([k, v]) => [
          k,
          defaultOf(v),
        ]),
      );

export const defaultSettings = defaultOf(Settings) as Settings;
