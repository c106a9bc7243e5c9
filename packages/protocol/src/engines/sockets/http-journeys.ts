import { type Static, Type } from 'typebox';
import { word } from '../../word.ts';
import { Payload } from '../payload.ts';
import { PlayedDictionary } from '../played-dictionary.ts';
import { Header } from './http-header.ts';

const closed = { additionalProperties: false } as const;

const JourneyCheck = Type.Object(
  {
    kind: word(['status', 'header', 'contains', 'regex', 'json', 'size', 'time']),
    name: Type.String({ default: '' }),
    value: Type.String({ default: '' }),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
  },
  closed,
);
export type JourneyCheck = Static<typeof JourneyCheck>;

const JourneyExtraction = Type.Object(
  { variable: Type.String(), from: word(['json', 'regex', 'header', 'cookie']), expression: Type.String() },
  closed,
);
export type JourneyExtraction = Static<typeof JourneyExtraction>;

const JourneyStep = Type.Object(
  {
    name: Type.String({ description: 'Part of the names of metrics.' }),
    kind: word(['request', 'think', 'group', 'repeat', 'branch', 'parallel'], { default: 'request' }),
    parent: Type.Integer({ minimum: -1, default: -1, description: 'Position of the step it belongs to; -1: none.' }),
    when: word(['holds', 'fails'], { default: 'holds' }),
    once: Type.Boolean({ default: false }),
    method: Type.String({ pattern: '^[A-Z]+$', default: 'GET' }),
    path: Type.String({ default: '/' }),
    headers: Type.Array(Header, { default: [] }),
    body: Type.Optional(Payload),
    checks: Type.Array(JourneyCheck, { default: [] }),
    extract: Type.Array(JourneyExtraction, { default: [] }),
    thinkMs: Type.Number({ minimum: 0, default: 0 }),
    thinkMaxMs: Type.Number({ minimum: 0, default: 0 }),
    distribution: word(['fixed', 'uniform', 'normal', 'exponential'], { default: 'fixed' }),
    count: Type.Integer({ minimum: 1, default: 1 }),
  },
  closed,
);
export type JourneyStep = Static<typeof JourneyStep>;

export const Journey = Type.Object(
  {
    name: Type.String({ description: 'Part of the names of metrics.' }),
    weight: Type.Number({ exclusiveMinimum: 0, default: 1 }),
    endOnFailure: Type.Boolean({ default: false }),
    variables: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }, closed), { default: [] }),
    dictionaries: Type.Array(Type.Object({ name: Type.String(), id: Type.Integer() }, closed), { default: [] }),
    steps: Type.Array(JourneyStep, { minItems: 1 }),
  },
  closed,
);
export type Journey = Static<typeof Journey>;

const ExchangeTraceSettings = Type.Object(
  {
    exchanges: Type.Integer({ minimum: 1, maximum: 1000, description: 'Exchanges to report, of all cores.' }),
    onlyFailed: Type.Boolean({ default: false }),
    hiddenHeaders: Type.Array(Type.String(), {
      default: [],
      description: 'Headers of requests whose values are not reported, in lower case.',
    }),
  },
  closed,
);
export type ExchangeTraceSettings = Static<typeof ExchangeTraceSettings>;

/** Journeys of the users of one client; users are its connections. */
export const Journeys = Type.Object(
  {
    journeys: Type.Array(Journey, { minItems: 1 }),
    dictionaries: Type.Array(PlayedDictionary, { default: [] }),
    seed: Type.String({ default: '', description: 'Seed of everything that is drawn.' }),
    firstUser: Type.Integer({ minimum: 0, default: 0, description: 'Number of the first user of this client.' }),
    users: Type.Integer({
      minimum: 1,
      default: 1,
      description: 'Users of the agent; only some may be of this client.',
    }),
    trace: Type.Optional(ExchangeTraceSettings),
    agentIndex: Type.Integer({ minimum: 0, default: 0 }),
    agentCount: Type.Integer({ minimum: 1, default: 1 }),
  },
  closed,
);
export type Journeys = Static<typeof Journeys>;
