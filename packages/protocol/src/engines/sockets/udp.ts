import { type Static, Type } from 'typebox';
import { DrawnText } from '../drawn-text.ts';
import { Listen, Rotation, Sources, Target } from '../endpoint.ts';
import { DataPath } from '../hosts/data-path.ts';
import { loadOf } from '../load.ts';

/** Size of the header with flow, sequence number and send time. */
export const udpHeaderBytes = 24;

export const UdpClientConfig = Type.Object(
  {
    role: Type.Literal('client'),
    targets: Type.Array(Target, { minItems: 1 }),
    rotation: Rotation,
    sources: Sources,
    dataPath: Type.Optional(DataPath),
    flows: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 1,
      description: 'Sockets, each with its own sequence.',
    }),
    load: loadOf('Packets a second of all flows together.'),
    payloadBytes: Type.Integer({ minimum: udpHeaderBytes, maximum: 65_507, default: 64 }),
    drawn: Type.Optional(DrawnText),
    expectsEcho: Type.Boolean({
      default: false,
      description: 'The server echoes every packet: loss and latency are round-trip values.',
    }),
    lingerMs: Type.Integer({ minimum: 0, default: 1000, description: 'Wait for late packets at the end.' }),
  },
  { additionalProperties: false },
);
export type UdpClientConfig = Static<typeof UdpClientConfig>;

export const UdpServerConfig = Type.Object(
  {
    role: Type.Literal('server'),
    dataPath: Type.Optional(DataPath),
    listen: Type.Array(Listen, { minItems: 1 }),
    echoes: Type.Boolean({ default: false }),
    receiveBufferBytes: Type.Integer({ minimum: 0, default: 4_194_304, description: '0: system default.' }),
  },
  { additionalProperties: false },
);
export type UdpServerConfig = Static<typeof UdpServerConfig>;

export const UdpConfig = Type.Union([UdpClientConfig, UdpServerConfig]);
export type UdpConfig = Static<typeof UdpConfig>;
