import { type Static, Type } from 'typebox';
import { Listen, Port, Rotation, Sources } from '../endpoint.ts';
import { DataPath } from '../hosts/data-path.ts';
import { loadOf } from '../load.ts';
import { PlayedDictionary } from '../played-dictionary.ts';
import { TlsClientSettings, TlsServerSettings } from './tls-settings.ts';

const index = (description: string) => Type.Integer({ minimum: 0, description });

const StepRange = Type.Object(
  {
    sessionIdx: index('Session of the capture.'),
    stepIdx: index('Step of the session, counted over both sides.'),
    offset: index('Offset in the recorded step.'),
    length: index('Number of replaced bytes; 0: insert.'),
  },
  { additionalProperties: false },
);

/** A value inserted into steps; both sides compute the same one. */
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

/** Replay speed. */
export const PlaySpeed = Type.Object(
  {
    mode: Type.Union([Type.Literal('original'), Type.Literal('bps'), Type.Literal('pps'), Type.Literal('max')]),
    value: Type.Number({ minimum: 0, default: 0, description: 'Bits or steps per second in the modes bps and pps.' }),
    multiplier: Type.Number({ exclusiveMinimum: 0, default: 1, description: 'Factor of the recorded speed.' }),
  },
  { additionalProperties: false },
);
export type PlaySpeed = Static<typeof PlaySpeed>;

/** A recorded application: its capture, parameters and users. */
export const ApplicationPlay = Type.Object(
  {
    name: Type.String(),
    capture: Type.String({ description: 'Path of the capture with its steps.' }),
    clientIp: Type.String({ default: '', description: 'Address that is the client of all its sessions.' }),
    sessions: Type.Array(
      Type.Object(
        { sessionIndex: index('Position in the capture.'), speed: Type.Optional(PlaySpeed) },
        { additionalProperties: false },
      ),
      { minItems: 1 },
    ),
    speed: PlaySpeed,
    leastGapMs: Type.Number({ minimum: 0, default: 0, description: 'Shorter pauses are skipped.' }),
    timeoutMs: Type.Integer({ minimum: 1, default: 5000, description: 'Timeout of a step.' }),
    parameters: Type.Array(PlayedParameter, { default: [] }),
    users: Type.Integer({ minimum: 1, description: 'Total of all clients.' }),
    firstSlot: Type.Integer({
      minimum: 0,
      default: 0,
      description: 'Slot of its first user among the users of all applications.',
    }),
    seed: Type.String({ description: 'Seed of the parameter values, the same on both sides.' }),
  },
  { additionalProperties: false },
);
export type ApplicationPlay = Static<typeof ApplicationPlay>;

const shared = {
  applications: Type.Array(ApplicationPlay, { minItems: 1 }),
  dictionaries: Type.Array(PlayedDictionary, { default: [] }),
  match: Type.Union([Type.Literal('exact'), Type.Literal('length'), Type.Literal('any'), Type.Literal('http')], {
    default: 'exact',
    description:
      'What must arrive: the same bytes, the same number of bytes, or anything; http: equivalent HTTP messages, as a proxy may rewrite them.',
  }),
  onMismatch: Type.Union([Type.Literal('continue'), Type.Literal('stopSession'), Type.Literal('stopTask')], {
    default: 'continue',
  }),
  taskId: Type.Integer({ minimum: 0, default: 0 }),
  dataPath: Type.Optional(DataPath),
};

/** Ports that replace a recorded port: users are assigned to `ports` in rotation. */
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
    tls: Type.Optional(TlsClientSettings),
    shares: Type.Array(
      Type.Object(
        {
          firstUser: index('First user replayed by this client.'),
          users: index('Number of users replayed by this client; may be 0.'),
          iterations: index('Iterations of each user over all sessions; 0: until the end.'),
          load: loadOf('Iterations over all sessions started per second.'),
          rate: Type.Optional(
            Type.Number({ exclusiveMinimum: 0, description: 'Its share of the value of the modes bps and pps.' }),
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
          slot: Type.Optional(index('Only for the user of this slot.')),
        },
        { additionalProperties: false },
      ),
      { minItems: 1 },
    ),
    tls: Type.Optional(TlsServerSettings),
  },
  { additionalProperties: false },
);
export type ApplicationServerConfig = Static<typeof ApplicationServerConfig>;

export const ApplicationConfig = Type.Union([ApplicationClientConfig, ApplicationServerConfig]);
export type ApplicationConfig = Static<typeof ApplicationConfig>;
