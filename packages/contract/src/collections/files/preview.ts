import { Type } from 'typebox';
import { NullableTimestamp } from '../../scalars.ts';
import { Nullable, OneOf, optional } from '../../schema.ts';

const hasMore = Type.Boolean({ description: 'More rows follow' });
const problem = optional.string({ description: 'Why the rows end before the file does' });
const kind = (name: string) => OneOf([name]);
const maybeSize = Nullable(Type.Integer({ description: 'What the archive claims' }));

const Packets = Type.Object({
  kind: kind('pcap'),
  rows: Type.Array(
    Type.Object({
      n: Type.Integer({ description: 'Number of the packet, from 1' }),
      relTimeMs: Type.Number(),
      src: Type.String(),
      dst: Type.String(),
      proto: Type.String(),
      length: Type.Integer(),
      info: Type.String(),
    }),
  ),
  hasMore,
});

const Entries = Type.Object({
  kind: kind('har'),
  rows: Type.Array(
    Type.Object({
      n: Type.Integer(),
      method: Type.String(),
      url: Type.String(),
      status: Type.Number(),
      size: Type.Number(),
      ms: Type.Number(),
    }),
  ),
  hasMore,
  problem,
});

const Table = Type.Object({
  kind: kind('csv'),
  delimiter: Type.String(),
  columns: Type.Array(Type.String()),
  rows: Type.Array(Type.Array(Type.String())),
  hasMore,
  problem,
});

const Members = Type.Object({
  kind: kind('archive'),
  members: Type.Array(
    Type.Object({ name: Type.String(), size: maybeSize, isEncrypted: Type.Boolean(), modifiedAt: NullableTimestamp }),
  ),
  hasMore,
  problem,
});

const Lines = Type.Object({ kind: kind('text'), encoding: Type.String(), lines: Type.Array(Type.String()), hasMore });

const Dump = Type.Object({
  kind: kind('hex'),
  rows: Type.Array(Type.Object({ offset: Type.Integer(), hex: Type.String(), text: Type.String() })),
  hasMore,
});

/** Preview of a file by kind of content, limited in size. */
export const FilePreview = Type.Union([Packets, Entries, Table, Members, Lines, Dump]);

export const PreviewQuery = Type.Object({
  start: optional.integer([0, 2 ** 40], 'Rows, lines or members passed over', 0),
  limit: optional.integer([1, 200], 'Rows shown', 50),
  filter: optional.text(200, 'Captures only: `tcp`, `udp`, `host ADDRESS`, `port NUMBER`, joined by `and`'),
  sheet: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Has no effect: no content read here has sheets',
    }),
  ),
});
