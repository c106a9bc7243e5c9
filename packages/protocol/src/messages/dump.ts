import { type Static, Type } from 'typebox';
import { count as amountOf, instant, ordinal } from '../bounds.ts';
import { word } from '../word.ts';

const closed = { additionalProperties: false } as const;

/** Capture settings of a run, for all interfaces its jobs use. */
export const Capture = Type.Object(
  {
    savelen: Type.Integer({ minimum: 1, maximum: 262_144, description: 'Bytes kept of each packet.' }),
    captureArp: Type.Boolean(),
    keep: word(['first', 'newest'], { description: 'Which packets are kept when `maxBytes` is exceeded.' }),
    maxBytes: Type.Integer({ minimum: 0, description: 'Total of all capture files of this agent in the run.' }),
    keys: Type.Optional(Type.Boolean({ description: 'Keys are reported in the table `keys`.' })),
  },
  closed,
);
export type Capture = Static<typeof Capture>;

/** Identifies one capture file of an agent. */
export const DumpName = Type.Object(
  {
    runId: ordinal(),
    epoch: amountOf(),
    name: Type.String({ pattern: '^[0-9A-Za-z][0-9A-Za-z_.:@-]{0,63}$' }),
  },
  closed,
);
export type DumpName = Static<typeof DumpName>;

const count = amountOf();
const moment = Type.Union([instant(), Type.Null()], {
  description: 'Milliseconds since 1970 on the clock of the agent, as in the file.',
});

/** State of a capture file. */
export const DumpState = Type.Object(
  {
    ...DumpName.properties,
    interface: Type.String({ maxLength: 64 }),
    state: word(['open', 'closed'], { description: 'closed: final, can be read.' }),
    size: count,
    packets: count,
    drops: amountOf({ description: 'Packets dropped by the kernel.' }),
    truncated: Type.Boolean({ description: 'The file does not contain all packets.' }),
    sha256: Type.String({ pattern: '^([0-9a-f]{64})?$', description: 'Set when closed.' }),
    firstAt: moment,
    lastAt: moment,
    problem: Type.String({
      maxLength: 500,
      description: 'Reason why the capture is incomplete; empty when it is complete.',
    }),
  },
  closed,
);
export type DumpState = Static<typeof DumpState>;

/** Maximum bytes of one read of a capture file. */
export const dumpPieceBytes = 512 * 1024;
