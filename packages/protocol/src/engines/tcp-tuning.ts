import { type Static, Type } from 'typebox';

/** What is left out is the machine's own choice. */
export const TcpTuning = Type.Object(
  {
    mss: Type.Optional(Type.Integer({ minimum: 88, maximum: 32_767, description: 'Largest segment.' })),
    window: Type.Optional(
      Type.Integer({ minimum: 2304, maximum: 1_073_741_824, description: 'Largest receive window, in bytes.' }),
    ),
    congestion: Type.Optional(Type.String({ minLength: 1, maxLength: 15, description: 'Congestion control.' })),
    synRetries: Type.Optional(Type.Integer({ minimum: 1, maximum: 127, description: 'Times a SYN is repeated.' })),
  },
  { additionalProperties: false },
);
export type TcpTuning = Static<typeof TcpTuning>;
