import { type Static, Type } from 'typebox';
import { Description, Id, Name, NullableInteger, Tags, Timestamp } from '../../scalars.ts';
import { Component, Nullable, OneOf, optional, StrictComponent } from '../../schema.ts';
import { Issuer } from '../users.ts';

const index = (description: string) => Type.Integer({ minimum: 0, maximum: 2 ** 31, description });
const bytes = (description: string) => Type.Integer({ minimum: 0, maximum: 2 ** 40, description });
const numeric = (description: string) => optional.text(64, description);
const readOnly = { readOnly: true };

export const Side = OneOf(['client', 'server'], { description: 'Who says the step' });

const place = {
  sessionIdx: index('Session of the capture, from 0'),
  stepIdx: index('Step of the session, from 0 over both sides'),
  side: Side,
  offset: bytes('First byte in the recorded step'),
  length: bytes('Bytes that are replaced; 0 inserts'),
};
export const StepMapping = StrictComponent('StepMapping', place);

const parameterSources = ['fixed', 'list', 'counter', 'random', 'dictionary', 'extract', 'system'] as const;

const values = {
  name: Type.String({ minLength: 1, maxLength: 128, description: 'Unique in the application' }),
  description: Type.Optional(Description),
  type: optional.text(
    16,
    'How values are read and encoded: string (unless said), integer, hex, base64, ipv4, ipv6, mac, uuid, timestamp, enum, u8, u16be, u16le, u32be, u32le',
  ),
  side: optional.oneOf(['client', 'server', 'both'], { description: 'Who needs the value; both unless said' }),
  source: optional.oneOf(parameterSources, { description: 'Where values come from; fixed unless said' }),
  prefix: optional.text(1024, 'Put before every generated value'),
  defaultValue: optional.text(
    65_536,
    'The value of `fixed`; dict/<dictionaryId>/<column> of `dictionary`; the name of a `system` value: clientIp, clientPort, serverIp, serverPort, userIndex, iteration, nowUnix, nowIso, taskId, attemptId',
  ),
  min: numeric('Least value of a counter or random value'),
  max: numeric('Greatest value of a counter or random value'),
  start: numeric('First value of a counter'),
  step: numeric('Distance of two values of a counter; 1 unless said'),
  allowedValues: optional.array(Type.String({ maxLength: 65_536 }), {
    maxItems: 10_000,
    description: 'Values of a list or an enum',
  }),
  extractSessionIdx: Type.Optional(place.sessionIdx),
  extractStepIdx: Type.Optional(place.stepIdx),
  extractOffset: Type.Optional(place.offset),
  extractLength: Type.Optional(bytes('Bytes to extract')),
  stepsMappings: optional.array(StepMapping, { maxItems: 10_000, description: 'Where values are put' }),
};

const ParameterDraft = StrictComponent('ApplicationParameterDraft', {
  id: Type.Optional(
    Nullable(
      Type.Integer({
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Keeps a parameter, and with it the values drawn for it, when it is renamed',
      }),
    ),
  ),
  applicationId: Type.Optional(Type.Unknown(readOnly)),
  ...values,
});
export type ParameterDraft = Static<typeof ParameterDraft>;

export const ApplicationParameter = Component('ApplicationParameter', {
  id: Id,
  applicationId: Id,
  name: Type.String(),
  description: Type.String(),
  type: Type.String(),
  side: Type.String(),
  source: Type.String(),
  prefix: Type.String(),
  defaultValue: Type.String(),
  min: Type.String(),
  max: Type.String(),
  start: Type.String(),
  step: Type.String(),
  allowedValues: Type.Array(Type.String()),
  extractSessionIdx: Type.Integer(),
  extractStepIdx: Type.Integer(),
  extractOffset: Type.Integer(),
  extractLength: Type.Integer(),
  stepsMappings: Type.Array(StepMapping),
});
export type ApplicationParameter = Static<typeof ApplicationParameter>;

export const ApplicationSession = Component('ApplicationSession', {
  id: Id,
  applicationId: Id,
  name: Type.String(),
  protocol: Type.String(),
  srcIp: Type.String({ description: 'The client' }),
  dstIp: Type.String({ description: 'The server' }),
  srcPort: Type.Integer(),
  dstPort: Type.Integer(),
  bytesC2S: Type.Integer(),
  bytesS2C: Type.Integer(),
  exchangeCount: Type.Integer(),
  sessionIndex: Type.Integer({ description: 'Position in the capture, from 0' }),
});
export type ApplicationSession = Static<typeof ApplicationSession>;

const recorded = Object.keys(ApplicationSession.properties).filter((key) => !['name', 'sessionIndex'].includes(key));

const SessionDraft = Type.Unsafe<{ sessionIndex: number; name?: string }>(
  StrictComponent('ApplicationSessionDraft', {
    ...Object.fromEntries(recorded.map((key) => [key, Type.Optional(Type.Unknown(readOnly))])),
    sessionIndex: index('Position in the capture, from 0'),
    name: optional.string({ minLength: 1, maxLength: 255, description: 'As it was recognised unless said' }),
  }),
);

const milliseconds = (description: string) => optional.integer([0, 86_400_000], description);

/** Members common to drafts and imports of an application. */
export const applicationMembers = {
  description: Type.Optional(Description),
  tags: Type.Optional(Tags),
  mode: optional.oneOf(['stateful', 'packet'], {
    description: 'Exchange steps over real sockets (unless said), or send rewritten frames, whose length cannot change',
  }),
  defaultSpeedMode: optional.oneOf(['original', 'bps', 'pps', 'max'], { description: 'original unless said' }),
  clientIp: optional.text(64, 'The client of every session it takes part in, above all other signs'),
  allowPerSessionSpeed: optional.flag('Tasks may give sessions a speed of their own'),
  followTimestamps: optional.flag('Keep the gaps between steps; true unless said'),
  lockParameters: optional.flag('Tasks may not override parameters'),
  loop: optional.flag('Repeat until the task ends'),
  defaultTimeout: milliseconds('To wait for a step, in milliseconds; 5000 unless said'),
  defaultUsers: optional.integer([1, 1_000_000], '1 unless said'),
  timingGapThresholdMs: milliseconds('Shorter gaps between steps are not slept; 500 unless said'),
  parameters: optional.array(ParameterDraft, { maxItems: 500, description: 'An update replaces them all' }),
  sessions: optional.array(SessionDraft, {
    maxItems: 10_000,
    description:
      'The sessions of the capture to play; all that can be replayed unless said. An update replaces them all',
  }),
};

export const ApplicationDraft = Type.Object({ name: Name, pcapFileId: Id, ...applicationMembers });
export type ApplicationDraft = Static<typeof ApplicationDraft>;

export const Application = Component('Application', {
  id: Id,
  name: Type.String(),
  description: Type.String(),
  tags: Type.String(),
  mode: Type.String(),
  defaultSpeedMode: Type.String(),
  clientIp: Type.String(),
  allowPerSessionSpeed: Type.Boolean(),
  followTimestamps: Type.Boolean(),
  lockParameters: Type.Boolean(),
  loop: Type.Boolean(),
  baseBps: Type.Integer({ description: 'Bits a second over the whole capture' }),
  basePps: Type.Integer({ description: 'Packets a second over the whole capture' }),
  defaultTimeout: Type.Integer(),
  defaultUsers: Type.Integer(),
  timingGapThresholdMs: Type.Integer(),
  pcapFileId: Id,
  trimmedPcapFileId: Nullable(
    Type.Integer({ description: 'The smaller capture that is played instead, see `POST /applications/{id}/trim`' }),
  ),
  pcapMd5: Type.String({ description: 'MD5 of the capture that is played' }),
  source: OneOf(['user', 'builtin'], {
    description: 'Those of the library cannot be changed or deleted: copy them instead',
  }),
  sessionCount: Type.Integer(),
  parameterCount: Type.Integer(),
  parameters: Type.Array(ApplicationParameter),
  sessions: Type.Array(ApplicationSession),
  issuerId: NullableInteger,
  issuer: Issuer,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Application = Static<typeof Application>;
