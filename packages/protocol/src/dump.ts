import { type Static, Type } from 'typebox';
import { word } from './word.ts';

const closed = { additionalProperties: false } as const;

/** What an agent captures of the traffic of a run, on every interface that its jobs use. */
export const Capture = Type.Object(
  {
    savelen: Type.Integer({ minimum: 1, maximum: 262_144, description: 'Bytes kept of each packet.' }),
    captureArp: Type.Boolean(),
    keep: word(['first', 'newest'], { description: 'What stays when there is more than `maxBytes`.' }),
    maxBytes: Type.Integer({ minimum: 0, description: 'Of all dumps of this agent in the run.' }),
  },
  closed,
);
export type Capture = Static<typeof Capture>;

/** Names one dump of an agent. */
export const DumpName = Type.Object(
  {
    runId: Type.Integer({ minimum: 1 }),
    epoch: Type.Integer({ minimum: 0 }),
    name: Type.String({ pattern: '^[0-9A-Za-z][0-9A-Za-z_.:@-]{0,63}$' }),
  },
  closed,
);
export type DumpName = Static<typeof DumpName>;

const count = Type.Integer({ minimum: 0 });
const moment = Type.Union([Type.Number(), Type.Null()], {
  description: 'Milliseconds since 1970 on the clock of the agent, as in the file.',
});

/** How far a dump is. */
export const DumpState = Type.Object(
  {
    ...DumpName.properties,
    interface: Type.String({ maxLength: 64 }),
    state: word(['open', 'closed'], { description: 'closed: nothing changes any more, it can be read.' }),
    size: count,
    packets: count,
    drops: Type.Integer({ minimum: 0, description: 'Packets the system had no room for.' }),
    truncated: Type.Boolean({ description: 'There was more than is in it.' }),
    sha256: Type.String({ pattern: '^([0-9a-f]{64})?$', description: 'Once it is closed.' }),
    firstAt: moment,
    lastAt: moment,
    problem: Type.String({ maxLength: 500, description: 'Why it is not what was wanted; empty when it is.' }),
  },
  closed,
);
export type DumpState = Static<typeof DumpState>;

/** Largest piece of a dump that is read at once. */
export const dumpPieceBytes = 512 * 1024;
