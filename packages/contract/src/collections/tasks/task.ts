import { type Static, Type } from 'typebox';
import { Id, NullableInteger, NullableTimestamp, Timestamp } from '../../scalars.ts';
import { Component, OneOf, optional, StrictComponent, StrictObject, strict } from '../../schema.ts';
import { EntryValues } from '../../values/entry-values.ts';
import { accessProfiles, controlProfiles } from '../../values/protocols/profiles.ts';
import { Project } from '../projects.ts';
import { Issuer } from '../users.ts';

const profilesOf = (protocol: string) =>
  optional.array(Id, { maxItems: 1000, description: `Ids of dictionaries of type protocol.${protocol}` });
const AgentRef = Type.Object({ id: Id }, { additionalProperties: true, description: 'An agent, by id' });

const profileMembers = <Profiles extends object>(profiles: Profiles) =>
  Object.fromEntries(Object.keys(profiles).map((name) => [name, profilesOf(name)])) as {
    [K in keyof Profiles]: ReturnType<typeof profilesOf>;
  };

export const AccessPlaneEntry = StrictComponent('AccessPlaneEntry', {
  agent: AgentRef,
  groupId: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  role: optional.text(64),
  isServer: optional.flag(),
  interfaces: optional.array(Id, { maxItems: 1000, description: 'Ids of the agent’s interfaces' }),
  ...profileMembers(accessProfiles),
});
export type AccessPlaneEntry = Static<typeof AccessPlaneEntry>;

export const ControlPlaneEntry = StrictComponent('ControlPlaneEntry', {
  agent: AgentRef,
  isServer: optional.flag(),
  interfaces: optional.array(Type.Array(Id, { maxItems: 1000 }), {
    maxItems: 1000,
    description: 'Groups of interfaces, one for each emulated router',
  }),
  ...profileMembers(controlProfiles),
});
export type ControlPlaneEntry = Static<typeof ControlPlaneEntry>;

const PluginRef = Type.Object({ id: Id }, { additionalProperties: true, description: 'A row of GET /tasks/plugins' });

export const SuiteEntry = StrictComponent('SuiteEntry', {
  plugin: PluginRef,
  values: Type.Optional(EntryValues),
  order: optional.integer(
    [0, 1000],
    '0 when left out. Entries of the same order begin together; the next order begins when all before have had their time',
  ),
  startAfterSec: Type.Optional(
    Type.Number({ minimum: 0, maximum: 31_536_000, description: 'Begins so long after its order does' }),
  ),
});
export type SuiteEntry = Static<typeof SuiteEntry>;

export const ConfigurationEntry = StrictComponent('ConfigurationEntry', {
  plugin: PluginRef,
  subplugins: Type.Optional(
    Type.Object(
      {
        duration: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), {
            description:
              'Limits the whole suite, as `values.duration` does an entry; without it the suite ends with its last entry',
          }),
        ),
        subplugins: optional.array(SuiteEntry, { maxItems: 100 }),
      },
      { ...strict, description: 'What is inside a suite' },
    ),
  ),
  values: Type.Optional(EntryValues),
});
export type ConfigurationEntry = Static<typeof ConfigurationEntry>;

export const Dumps = StrictComponent('Dumps', {
  enabled: optional.flag('Capture on the agents while the task runs'),
  captureArp: optional.flag('ARP as well'),
  savelen: optional.integer([0, 262_144], 'Bytes kept of each packet; 0 = as the settings say'),
  keep: optional.oneOf(['first', 'newest'], {
    description: 'Which packets stay when there are more than the settings allow',
  }),
  keys: optional.flag('Keep the keys of IPsec, TLS and QUIC, so that the dumps can be decrypted'),
});

const aggregations = ['min', 'max', 'avg', 'p50', 'p90', 'p95', 'p99', 'p999', 'sum', 'rate', 'last', 'count'] as const;

export const Threshold = StrictComponent('Threshold', {
  name: Type.String({ minLength: 1, maxLength: 128 }),
  metric: Type.String({ minLength: 1, maxLength: 128, description: 'Of the plugins the task uses' }),
  aggregation: OneOf(aggregations),
  operator: OneOf(['<', '<=', '>', '>=', '==', '!=']),
  value: Type.Number({ description: 'What must hold: `aggregation(metric) operator value`' }),
  scope: Type.Optional(
    StrictObject({
      configurationIndex: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
      agentID: Type.Optional(Id),
      pluginID: Type.Optional(Id),
    }),
  ),
  window: Type.Optional(
    Type.Union(
      [
        OneOf(['steady', 'all']),
        StrictObject({ fromSec: Type.Number({ minimum: 0 }), toSec: Type.Number({ minimum: 0 }) }),
      ],
      { default: 'steady', description: 'steady: without ramps and warm-up' },
    ),
  ),
  abortOnFail: optional.flag('Stop the run once it does not hold', false),
  delayAbortSec: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400, default: 0 })),
  onNoData: optional.oneOf(['fail', 'pass', 'inconclusive'], { default: 'fail' }),
  severity: optional.oneOf(['fail', 'warn'], { default: 'fail', description: 'warn: never fails the verdict' }),
});
export type Threshold = Static<typeof Threshold>;

const deviceText = (description: string) => Type.Optional(Type.String({ maxLength: 128, description }));

export const Device = StrictComponent('Device', {
  name: Type.String({ minLength: 1, maxLength: 128, description: 'What people call it' }),
  vendor: deviceText('Who makes it'),
  model: deviceText('Of which model it is'),
  version: deviceText('Version of its software'),
});
export type Device = Static<typeof Device>;

/** The body of a create. */
export const TaskDraft = Type.Object({
  comment: optional.text(4096, 'Name'),
  projectID: Type.Optional(NullableInteger),
  accessPlane: optional.array(AccessPlaneEntry, { maxItems: 1000 }),
  controlPlane: optional.array(ControlPlaneEntry, { maxItems: 1000 }),
  configuration: Type.Array(ConfigurationEntry, {
    maxItems: 1000,
    description: 'At least one entry, unless the task consists of planes',
  }),
  dumps: Type.Optional(Dumps),
  device: Type.Optional(
    Type.Union([Device, Type.Null()], {
      description:
        'The device under test; runs get the labels `device`, `deviceVendor`, `deviceModel`, `deviceVersion`',
    }),
  ),
});
export type TaskDraft = Static<typeof TaskDraft>;

export const Task = Component('Task', {
  id: Id,
  comment: Type.String(),
  status: Type.Integer({
    description:
      '0 created, 1 queued, 2 preparing, 3 armed, 4 running, 5 paused, 6 stopping, 7 finished, 8 stopped, 9 failed',
  }),
  error: Type.String({ description: 'Why the last run failed' }),
  projectID: NullableInteger,
  project: Type.Union([Type.Pick(Project, ['ID', 'name', 'archivedAt']), Type.Null()]),
  issuerID: NullableInteger,
  issuer: Issuer,
  accessPlane: Type.Array(AccessPlaneEntry),
  controlPlane: Type.Array(ControlPlaneEntry),
  configuration: Type.Array(ConfigurationEntry, { description: 'Empty in lists unless `full`, like the planes' }),
  dumps: Dumps,
  device: Type.Union([Device, Type.Null()], { description: 'The device under test' }),
  lastRunId: NullableInteger,
  verdict: Type.Integer({ description: 'Of the last run: 0 none, 1 passed, 2 failed, 3 inconclusive' }),
  scheduleEnabled: Type.Boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  startedAt: NullableTimestamp,
  finishedAt: NullableTimestamp,
  deletedAt: NullableTimestamp,
});
export type Task = Static<typeof Task>;
