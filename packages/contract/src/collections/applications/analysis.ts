import { type Static, Type } from 'typebox';
import { createBody } from '../../bodies.ts';
import { Issue } from '../../envelopes.ts';
import { Id } from '../../scalars.ts';
import { Component, OneOf, optional, StrictComponent, StrictObject } from '../../schema.ts';
import {
  Application,
  ApplicationParameter,
  ApplicationSession,
  applicationMembers,
  Side,
  StepMapping,
} from './application.ts';

const index = Type.Integer({ minimum: 0, maximum: 2 ** 31 });

const valueEncodings = ['plain', 'url', 'base64', 'hex', 'utf16le'] as const;

const Find = StrictComponent('ApplicationFind', {
  pattern: Type.String({ minLength: 1, maxLength: 1000 }),
  type: optional.oneOf(['text', 'hex', 'regex'], { description: 'text unless said' }),
  encodings: optional.array(OneOf(valueEncodings), {
    minItems: 1,
    maxItems: 5,
    description: 'Forms to look for; all unless said',
  }),
  sides: optional.array(Side, { minItems: 1, maxItems: 2, description: 'Both unless said' }),
});
export type Find = Static<typeof Find>;

const Options = StrictComponent('AnalyzeOptions', {
  clientIp: optional.text(64),
  sessionIdx: optional.array(index, { maxItems: 10_000, description: 'Look only at these sessions' }),
  suggest: optional.flag('Propose parameters'),
  find: optional.array(Find, { maxItems: 20, description: 'Values to look for' }),
  values: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 65_536 }), {
      description: 'Values to render with, by the name of the parameter',
    }),
  ),
  render: Type.Optional(
    StrictObject({
      sessionIdx: index,
      data: optional.flag('Also answer the bytes, up to 64 KiB of each step'),
    }),
  ),
});
export type AnalyzeOptions = Static<typeof Options>;

/** A draft to analyze: name and capture are optional. */
const Draft = Type.Object({
  id: optional.described(Id, 'A stored application; other members override its own'),
  name: optional.text(128),
  pcapFileId: Type.Optional(Id),
  ...applicationMembers,
  options: Type.Optional(Options),
});
export type AnalyzeBody = Static<typeof Draft>;
export const AnalyzeBody = createBody(Draft, Application);

const { id: _id, applicationId: _owner, ...parameterMembers } = ApplicationParameter.properties;
const { id: _sessionId, applicationId: _sessionOwner, ...sessionMembers } = ApplicationSession.properties;

export const Suggestion = Component('ParameterSuggestion', {
  ...parameterMembers,
  confidence: Type.Number({ description: '0 to 1' }),
  reason: Type.String(),
});
export type Suggestion = Static<typeof Suggestion>;

export const Analysis = Component('ApplicationAnalysis', {
  sessions: Type.Array(
    Component('AnalyzedSession', {
      ...sessionMembers,
      appProtocol: Type.String(),
      replayable: Type.Boolean(),
      reasons: Type.Array(Type.String()),
    }),
  ),
  suggestions: Type.Array(Suggestion),
  matches: Type.Array(
    Component('ValueMatch', {
      ...StepMapping.properties,
      encoding: OneOf(valueEncodings),
      exact: Type.Boolean({ description: 'False where the place also holds bits of the bytes beside the value' }),
      find: Type.Integer({ description: 'Position in `find`' }),
    }),
    { description: 'At most 10,000' },
  ),
  issues: Type.Array(Component('ApplicationIssue', { ...Issue.properties, severity: OneOf(['error', 'warning']) })),
  rendered: Type.Array(
    Component('RenderedStep', {
      sessionIdx: Type.Integer(),
      stepIdx: Type.Integer(),
      side: Side,
      length: Type.Integer(),
      sha256: Type.String(),
      data: optional.string({ description: 'base64' }),
    }),
  ),
  baseBps: Type.Integer(),
  basePps: Type.Integer(),
});
export type Analysis = Static<typeof Analysis>;
