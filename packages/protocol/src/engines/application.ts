import { type Static, Type } from 'typebox';
import { DataPath } from './data-path.ts';
import { Listen, Port, Rotation, Sources } from './endpoint.ts';
import { loadOf } from './load.ts';

const index = (description: string) => Type.Integer({ minimum: 0, description });

const StepRange = Type.Object(
  {
    sessionIdx: index('Session of the capture.'),
    stepIdx: index('Step of the session, counted over both sides.'),
    offset: index('First byte in the recorded step.'),
    length: index('Bytes that are replaced; 0 inserts.'),
  },
  { additionalProperties: false },
);

/** A value that is put into steps; both sides compute it alike. */
export const PlayedParameter = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    type: Type.String(),
    source: Type.String(),
    prefix: Type.String(),
    defaultValue: Type.String(),
    min: Type.String(),
    max: Type.String(),
    start: Type.String(),
    step: Type.String(),
    allowedValues: Type.Array(Type.String()),
    extract: Type.Optional(StepRange),
    stepsMappings: Type.Array(StepRange),
  },
  { additionalProperties: false },
);
export type PlayedParameter = Static<typeof PlayedParameter>;

/** How fast steps follow one another. */
export const PlaySpeed = Type.Object(
  {
    mode: Type.Union([Type.Literal('original'), Type.Literal('bps'), Type.Literal('pps'), Type.Literal('max')]),
    value: Type.Number({ minimum: 0, default: 0, description: 'Bits or steps a second in the modes bps and pps.' }),
    multiplier: Type.Number({ exclusiveMinimum: 0, default: 1, description: 'So many times as fast as recorded.' }),
  },
  { additionalProperties: false },
);
export type PlaySpeed = Static<typeof PlaySpeed>;

/** A recorded application: where its steps are, what is put into them, who plays it. */
export const ApplicationPlay = Type.Object(
  {
    name: Type.String(),
    capture: Type.String({ description: 'Path of the capture that its steps are read from.' }),
    clientIp: Type.String({ default: '', description: 'The client of every session it takes part in.' }),
    sessions: Type.Array(
      Type.Object(
        { sessionIndex: index('Position in the capture.'), speed: Type.Optional(PlaySpeed) },
        { additionalProperties: false },
      ),
      { minItems: 1 },
    ),
    speed: PlaySpeed,
    leastGapMs: Type.Number({ minimum: 0, default: 0, description: 'Shorter pauses are not kept.' }),
    timeoutMs: Type.Integer({ minimum: 1, default: 5000, description: 'Longest wait for a step.' }),
    parameters: Type.Array(PlayedParameter, { default: [] }),
    users: Type.Integer({ minimum: 1, description: 'Of all clients together.' }),
    firstSlot: Type.Integer({
      minimum: 0,
      default: 0,
      description: 'The slot of its first user among those of all applications.',
    }),
    seed: Type.String({ description: 'Values are drawn from it: the same on both sides.' }),
  },
  { additionalProperties: false },
);
export type ApplicationPlay = Static<typeof ApplicationPlay>;

const PlayedDictionary = Type.Object(
  {
    id: Type.Integer(),
    type: Type.String(),
    selection: Type.String(),
    columns: Type.Array(Type.String(), { default: [] }),
    rows: Type.Array(Type.Array(Type.String()), { default: [] }),
    values: Type.Array(Type.String(), { default: [] }),
    config: Type.Record(Type.String(), Type.Object({}, { additionalProperties: true }), { default: {} }),
  },
  { additionalProperties: false },
);

const shared = {
  applications: Type.Array(ApplicationPlay, { minItems: 1 }),
  dictionaries: Type.Array(PlayedDictionary, { default: [] }),
  match: Type.Union([Type.Literal('exact'), Type.Literal('length'), Type.Literal('any'), Type.Literal('http')], {
    default: 'exact',
    description:
      'What must arrive: the same bytes, as many bytes, anything; http: messages of HTTP that say the same, whatever a proxy may rightly change.',
  }),
  onMismatch: Type.Union([Type.Literal('continue'), Type.Literal('stopSession'), Type.Literal('stopTask')], {
    default: 'continue',
  }),
  taskId: Type.Integer({ minimum: 0, default: 0 }),
  dataPath: Type.Optional(DataPath),
};

/** Where sessions recorded to a port go: each user to its own of `ports`, in turn. */
const PortMapping = Type.Object(
  { recorded: Port, ports: Type.Array(Port, { minItems: 1 }) },
  { additionalProperties: false },
);

export const ApplicationClientConfig = Type.Object(
  {
    role: Type.Literal('client'),
    ...shared,
    targets: Type.Array(
      Type.Object(
        {
          host: Type.String({ minLength: 1 }),
          weight: Type.Number({ exclusiveMinimum: 0, default: 1 }),
          ports: Type.Array(PortMapping, { minItems: 1 }),
        },
        { additionalProperties: false },
      ),
      { minItems: 1 },
    ),
    rotation: Rotation,
    sources: Sources,
    shares: Type.Array(
      Type.Object(
        {
          firstUser: index('Of those that this client plays.'),
          users: index('How many it plays; 0 for none.'),
          iterations: index('Times each user plays all sessions; 0 until the end.'),
          load: loadOf('Rounds, each of all sessions, begun in a second.'),
          rate: Type.Optional(
            Type.Number({ exclusiveMinimum: 0, description: 'Its part of the value of the modes bps and pps.' }),
          ),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, description: 'One for each application.' },
    ),
    connectTimeoutMs: Type.Integer({ minimum: 1, default: 10_000 }),
  },
  { additionalProperties: false },
);
export type ApplicationClientConfig = Static<typeof ApplicationClientConfig>;

export const ApplicationServerConfig = Type.Object(
  {
    role: Type.Literal('server'),
    ...shared,
    listen: Type.Array(
      Type.Object(
        {
          ...Listen.properties,
          recorded: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: 'Port in the capture.' })),
          slot: Type.Optional(index('Only the user of this slot comes here.')),
        },
        { additionalProperties: false },
      ),
      { minItems: 1 },
    ),
  },
  { additionalProperties: false },
);
export type ApplicationServerConfig = Static<typeof ApplicationServerConfig>;

export const ApplicationConfig = Type.Union([ApplicationClientConfig, ApplicationServerConfig]);
export type ApplicationConfig = Static<typeof ApplicationConfig>;
