import { type Static, Type } from 'typebox';
import { OneOf } from '../envelopes.ts';
import { Id, MaybeTimestamp, Timestamp } from '../scalars.ts';
import { EntryValues } from '../values/entry-values.ts';
import { accessProfiles, controlProfiles } from '../values/protocols/profiles.ts';
import { Project } from './projects.ts';
import { Issuer } from './users.ts';

const closed = { additionalProperties: false } as const;
const MaybeId = Type.Unsafe<number | null>({ type: ['integer', 'null'] });
const Dictionaries = Type.Optional(Type.Array(Id, { maxItems: 1000 }));
const AgentRef = Type.Object({ id: Id }, { additionalProperties: true, description: 'An agent, by id' });

const profileMembers = <Profiles extends object>(profiles: Profiles) =>
  Object.fromEntries(Object.keys(profiles).map((name) => [name, Dictionaries])) as {
    [K in keyof Profiles]: typeof Dictionaries;
  };

export const AccessPlaneEntry = Type.Object(
  {
    agent: AgentRef,
    groupId: Type.Optional(Type.Integer({ minimum: 0 })),
    role: Type.Optional(Type.String({ maxLength: 64 })),
    isServer: Type.Optional(Type.Boolean()),
    interfaces: Type.Optional(Type.Array(Id, { maxItems: 1000, description: 'Ids of the agent’s interfaces' })),
    ...profileMembers(accessProfiles),
  },
  { title: 'AccessPlaneEntry', ...closed },
);
export type AccessPlaneEntry = Static<typeof AccessPlaneEntry>;

export const ControlPlaneEntry = Type.Object(
  {
    agent: AgentRef,
    isServer: Type.Optional(Type.Boolean()),
    interfaces: Type.Optional(
      Type.Array(Type.Array(Id, { maxItems: 1000 }), {
        maxItems: 1000,
        description: 'Groups of interfaces, one for each emulated router',
      }),
    ),
    ...profileMembers(controlProfiles),
  },
  { title: 'ControlPlaneEntry', ...closed },
);
export type ControlPlaneEntry = Static<typeof ControlPlaneEntry>;

const PluginRef = Type.Object({ id: Id }, { additionalProperties: true, description: 'A row of GET /tasks/plugins' });

export const SuiteEntry = Type.Object(
  {
    plugin: PluginRef,
    values: Type.Optional(EntryValues),
    order: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1000,
        description:
          '0 when left out. Entries of the same order begin together; the next order begins when all before have had their time',
      }),
    ),
    startAfterSec: Type.Optional(
      Type.Number({ minimum: 0, maximum: 31_536_000, description: 'Begins so long after its order does' }),
    ),
  },
  { title: 'SuiteEntry', ...closed },
);
export type SuiteEntry = Static<typeof SuiteEntry>;

export const ConfigurationEntry = Type.Object(
  {
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
          subplugins: Type.Optional(Type.Array(SuiteEntry, { maxItems: 100 })),
        },
        { ...closed, description: 'What is inside a suite' },
      ),
    ),
    values: Type.Optional(EntryValues),
  },
  { title: 'ConfigurationEntry', ...closed },
);
export type ConfigurationEntry = Static<typeof ConfigurationEntry>;

export const Dumps = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ description: 'Capture on the agents while the task runs' })),
    captureArp: Type.Optional(Type.Boolean({ description: 'ARP as well' })),
    savelen: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 262_144, description: 'Bytes kept of each packet; 0 = as the settings say' }),
    ),
    keep: Type.Optional(
      OneOf(['first', 'newest'], { description: 'Which packets stay when there are more than the settings allow' }),
    ),
  },
  { title: 'Dumps', ...closed },
);

const aggregations = ['min', 'max', 'avg', 'p50', 'p90', 'p95', 'p99', 'p999', 'sum', 'rate', 'last', 'count'] as const;

export const Threshold = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 128 }),
    metric: Type.String({ minLength: 1, maxLength: 128, description: 'Of the plugins the task uses' }),
    aggregation: OneOf(aggregations),
    operator: OneOf(['<', '<=', '>', '>=', '==', '!=']),
    value: Type.Number({ description: 'What must hold: `aggregation(metric) operator value`' }),
    scope: Type.Optional(
      Type.Object(
        {
          configurationIndex: Type.Optional(Type.Integer({ minimum: 0 })),
          agentID: Type.Optional(Id),
          pluginID: Type.Optional(Id),
        },
        closed,
      ),
    ),
    window: Type.Optional(
      Type.Union(
        [
          OneOf(['steady', 'all']),
          Type.Object({ fromSec: Type.Number({ minimum: 0 }), toSec: Type.Number({ minimum: 0 }) }, closed),
        ],
        { default: 'steady', description: 'steady: without ramps and warm-up' },
      ),
    ),
    abortOnFail: Type.Optional(Type.Boolean({ default: false, description: 'Stop the run once it does not hold' })),
    delayAbortSec: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400, default: 0 })),
    onNoData: Type.Optional(OneOf(['fail', 'pass', 'inconclusive'], { default: 'fail' })),
    severity: Type.Optional(OneOf(['fail', 'warn'], { default: 'fail', description: 'warn: never fails the verdict' })),
  },
  { title: 'Threshold', ...closed },
);
export type Threshold = Static<typeof Threshold>;

/** What a client writes. */
export const TaskDraft = Type.Object({
  comment: Type.Optional(Type.String({ maxLength: 4096, description: 'What the task is for' })),
  projectID: Type.Optional(MaybeId),
  accessPlane: Type.Optional(Type.Array(AccessPlaneEntry, { maxItems: 1000 })),
  controlPlane: Type.Optional(Type.Array(ControlPlaneEntry, { maxItems: 1000 })),
  configuration: Type.Array(ConfigurationEntry, { minItems: 1, maxItems: 1000 }),
  dumps: Type.Optional(Dumps),
});
export type TaskDraft = Static<typeof TaskDraft>;

export const Task = Type.Object(
  {
    id: Id,
    comment: Type.String(),
    status: Type.Integer({
      description:
        '0 created, 1 queued, 2 preparing, 3 armed, 4 running, 5 paused, 6 stopping, 7 finished, 8 stopped, 9 failed',
    }),
    error: Type.String({ description: 'Why the last run failed' }),
    projectID: MaybeId,
    project: Type.Union([Type.Pick(Project, ['ID', 'name', 'archivedAt']), Type.Null()]),
    issuerID: MaybeId,
    issuer: Issuer,
    accessPlane: Type.Array(AccessPlaneEntry),
    controlPlane: Type.Array(ControlPlaneEntry),
    configuration: Type.Array(ConfigurationEntry, { description: 'Empty in lists unless `full`, like the planes' }),
    dumps: Dumps,
    lastRunId: MaybeId,
    verdict: Type.Integer({ description: 'Of the last run: 0 none, 1 passed, 2 failed, 3 inconclusive' }),
    scheduleEnabled: Type.Boolean(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    startedAt: MaybeTimestamp,
    finishedAt: MaybeTimestamp,
    deletedAt: MaybeTimestamp,
  },
  { title: 'Task' },
);
export type Task = Static<typeof Task>;
