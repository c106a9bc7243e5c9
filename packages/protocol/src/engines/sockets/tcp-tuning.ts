import { type Static, Type } from 'typebox';

/** Omitted members use the default of the kernel. */
export const TcpTuning = Type.Object(
  {
    mss: Type.Optional(Type.Integer({ minimum: 88, maximum: 32_767, description: 'Maximum segment size.' })),
    window: Type.Optional(
      Type.Integer({ minimum: 2304, maximum: 1_073_741_824, description: 'Maximum receive window, in bytes.' }),
    ),
    congestion: Type.Optional(
      Type.String({ minLength: 1, maxLength: 15, description: 'Congestion control algorithm.' }),
    ),
    synRetries: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 127, description: 'Number of SYN retransmissions.' }),
    ),
  },
  { additionalProperties: false },
);
export type TcpTuning = Static<typeof TcpTuning>;
