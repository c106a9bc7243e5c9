import { type Static, Type } from 'typebox';
import { createBody } from '../bodies.ts';
import { Issue, OneOf } from '../envelopes.ts';
import { Id } from '../scalars.ts';
import {
  Application,
  ApplicationParameter,
  ApplicationSession,
  applicationMembers,
  Side,
  StepMapping,
} from './application-fields.ts';

const closed = { additionalProperties: false } as const;
const index = Type.Integer({ minimum: 0, maximum: 2 ** 31 });

const valueEncodings = ['plain', 'url', 'base64', 'hex', 'utf16le'] as const;

const Find = Type.Object(
  {
    pattern: Type.String({ minLength: 1, maxLength: 1000 }),
    type: Type.Optional(OneOf(['text', 'hex', 'regex'], { description: 'text unless said' })),
    encodings: Type.Optional(
      Type.Array(OneOf(valueEncodings), {
        minItems: 1,
        maxItems: 5,
        description: 'Forms to look for; all unless said',
      }),
    ),
    sides: Type.Optional(Type.Array(Side, { minItems: 1, maxItems: 2, description: 'Both unless said' })),
  },
  { title: 'ApplicationFind', ...closed },
);
export type Find = Static<typeof Find>;

const Options = Type.Object(
  {
    clientIp: Type.Optional(Type.String({ maxLength: 64 })),
    sessionIdx: Type.Optional(Type.Array(index, { maxItems: 10_000, description: 'Look only at these sessions' })),
    suggest: Type.Optional(Type.Boolean({ description: 'Propose parameters' })),
    find: Type.Optional(Type.Array(Find, { maxItems: 20, description: 'Values to look for' })),
    values: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 65_536 }), {
        description: 'Values to render with, by the name of the parameter',
      }),
    ),
    render: Type.Optional(
      Type.Object(
        {
          sessionIdx: index,
          data: Type.Optional(Type.Boolean({ description: 'Also answer the bytes, up to 64 KiB of each step' })),
        },
        closed,
      ),
    ),
  },
  { title: 'AnalyzeOptions', ...closed },
);
export type AnalyzeOptions = Static<typeof Options>;

/** A draft that is only looked at needs neither a name nor a capture of its own. */
const Draft = Type.Object({
  id: Type.Optional(
    Type.Unsafe<number>({ ...Id, description: 'A stored application; other members override its own' }),
  ),
  name: Type.Optional(Type.String({ maxLength: 128 })),
  pcapFileId: Type.Optional(Id),
  ...applicationMembers,
  options: Type.Optional(Options),
});
export type AnalyzeBody = Static<typeof Draft>;
export const AnalyzeBody = createBody(Draft, Application);

const { id: _id, applicationId: _owner, ...parameterMembers } = ApplicationParameter.properties;
const { id: _sessionId, applicationId: _sessionOwner, ...sessionMembers } = ApplicationSession.properties;

export const Suggestion = Type.Object(
  {
    ...parameterMembers,
    confidence: Type.Number({ description: '0 to 1' }),
    reason: Type.String(),
  },
  { title: 'ParameterSuggestion' },
);
export type Suggestion = Static<typeof Suggestion>;

export const Analysis = Type.Object(
  {
    sessions: Type.Array(
      Type.Object(
        {
          ...sessionMembers,
          appProtocol: Type.String(),
          replayable: Type.Boolean(),
          reasons: Type.Array(Type.String()),
        },
        { title: 'AnalyzedSession' },
      ),
    ),
    suggestions: Type.Array(Suggestion),
    matches: Type.Array(
      Type.Object(
        {
          ...StepMapping.properties,
          encoding: OneOf(valueEncodings),
          exact: Type.Boolean({ description: 'False where the place also holds bits of the bytes beside the value' }),
          find: Type.Integer({ description: 'Position in `find`' }),
        },
        { title: 'ValueMatch' },
      ),
      { description: 'At most 10,000' },
    ),
    issues: Type.Array(
      Type.Object({ ...Issue.properties, severity: OneOf(['error', 'warning']) }, { title: 'ApplicationIssue' }),
    ),
    rendered: Type.Array(
      Type.Object(
        {
          sessionIdx: Type.Integer(),
          stepIdx: Type.Integer(),
          side: Side,
          length: Type.Integer(),
          sha256: Type.String(),
          data: Type.Optional(Type.String({ description: 'base64' })),
        },
        { title: 'RenderedStep' },
      ),
    ),
    baseBps: Type.Integer(),
    basePps: Type.Integer(),
  },
  { title: 'ApplicationAnalysis' },
);
export type Analysis = Static<typeof Analysis>;
