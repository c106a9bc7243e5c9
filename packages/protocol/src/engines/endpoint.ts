import { type Static, Type } from 'typebox';

export const Port = Type.Integer({ minimum: 1, maximum: 65535 });

/** A target of a client. */
export const Target = Type.Object(
  {
    host: Type.String({ minLength: 1, description: 'Address or name.' }),
    last: Type.Optional(
      Type.String({ description: 'Last address of a range that `host` begins; all of it is measured together.' }),
    ),
    port: Port,
    weight: Type.Number({ exclusiveMinimum: 0, default: 1, description: 'Share of the load among several targets.' }),
  },
  { additionalProperties: false },
);
export type Target = Static<typeof Target>;

/** How a target or address is chosen for each session. */
export const Rotation = Type.Union(
  [Type.Literal('roundRobin'), Type.Literal('random'), Type.Literal('sequential'), Type.Literal('sticky')],
  {
    default: 'roundRobin',
    description:
      'roundRobin: in turn, by weight; random: by chance, by weight; sequential: one after another, weights ignored; sticky: a session slot keeps its choice.',
  },
);
export type Rotation = Static<typeof Rotation>;

/** Source addresses of clients. Empty: chosen by the kernel. */
export const Sources = Type.Object(
  {
    addresses: Type.Array(Type.String(), { default: [] }),
    networks: Type.Array(Type.String(), {
      default: [],
      description: 'CIDR networks; all host addresses are used.',
    }),
    ranges: Type.Array(Type.String({ pattern: '^[0-9a-fA-F:.]{2,45}-[0-9a-fA-F:.]{2,45}$' }), {
      default: [],
      description: 'Inclusive address ranges, such as 10.0.0.5-10.0.0.99.',
    }),
    rotation: Rotation,
    portRange: Type.Optional(
      Type.String({ pattern: '^\\d{1,5}-\\d{1,5}$', description: 'Client ports, such as 1024-65535.' }),
    ),
  },
  { additionalProperties: false, default: {} },
);
export type Sources = Static<typeof Sources>;

/** A listener of a server. */
export const Listen = Type.Object(
  {
    host: Type.String({ default: '0.0.0.0' }),
    port: Port,
  },
  { additionalProperties: false },
);
export type Listen = Static<typeof Listen>;
