import { type Static, Type } from 'typebox';
import { AgentFacts, AgentHealth, LogLine } from './agent-facts.ts';
import { DumpName, DumpState, dumpPieceBytes } from './dump.ts';
import { HeldRun, RunCommand, RunReport } from './run-messages.ts';

const closed = { additionalProperties: false } as const;

/** Raised when messages change in a way that older agents or controllers do not understand. */
export const protocolVersion = 1;

/** What an agent signs with its key: the nonce of the controller bound to this purpose. */
export const challengeText = (nonce: string) => `rushhour agent session ${nonce}`;

const Signed = {
  publicKey: Type.String({ description: 'Ed25519, SPKI in base64.' }),
  signature: Type.String({ description: 'Of `challengeText(nonce)`, base64.' }),
};

const Introduction = {
  protocol: Type.Integer({ minimum: 1 }),
  bootId: Type.String({ description: 'New with every start of the agent process.' }),
  facts: AgentFacts,
};

/** The first thing an agent says, in answer to the challenge. */
export const Greeting = Type.Union([
  Type.Object(
    {
      type: Type.Literal('enrol'),
      ...Introduction,
      ...Signed,
      uuid: Type.String({ format: 'uuid', description: 'Chosen by the agent when it made its key.' }),
      token: Type.String(),
      name: Type.String({ minLength: 1, maxLength: 128 }),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('hello'),
      ...Introduction,
      ...Signed,
      uuid: Type.String({ format: 'uuid' }),
      runs: Type.Array(HeldRun),
    },
    closed,
  ),
]);
export type Greeting = Static<typeof Greeting>;

export const AgentLimits = Type.Object(
  {
    heartbeatMs: Type.Integer({ minimum: 100 }),
    deadManMs: Type.Integer({ minimum: 1000 }),
    allowedTargets: Type.Array(Type.String()),
  },
  closed,
);
export type AgentLimits = Static<typeof AgentLimits>;

/** What a controller asks of an agent outside a run; each is answered by `answer` with the same `id`. */
export const Question = Type.Union([
  Type.Object({ kind: Type.Literal('ping') }, closed),
  Type.Object({ kind: Type.Literal('rescan') }, { ...closed, description: 'Answer: AgentFacts.' }),
  Type.Object({ kind: Type.Literal('restart') }, closed),
  Type.Object(
    { kind: Type.Literal('upgrade'), sha256: Type.String(), size: Type.Integer(), version: Type.String() },
    {
      ...closed,
      description: 'Fetches the package, checks it, installs it beside the running one and restarts into it.',
    },
  ),
  Type.Object({ kind: Type.Literal('collectLogs') }, { ...closed, description: 'Answer: LogLine[] as kept on disk.' }),
  Type.Object(
    { kind: Type.Literal('probe'), orders: Type.Array(Type.Unknown()), gateways: Type.Array(Type.String()) },
    {
      ...closed,
      description:
        'A dry run: configuration, capabilities, free ports, links. Answer: {problems:[{order,code,message}]}.',
    },
  ),
  Type.Object(
    { kind: Type.Literal('fetchFile'), sha256: Type.String(), size: Type.Integer(), verify: Type.Boolean() },
    { ...closed, description: 'Answer once the file is on the disk of the agent: {bytes}.' },
  ),
  Type.Object(
    {
      kind: Type.Literal('readDump'),
      ...DumpName.properties,
      offset: Type.Integer({ minimum: 0 }),
      length: Type.Integer({ minimum: 1, maximum: dumpPieceBytes }),
    },
    { ...closed, description: 'A piece of a closed dump. Answer: {base64}.' },
  ),
  Type.Object(
    { kind: Type.Literal('reset') },
    { ...closed, description: 'Ends everything left of earlier runs. Answer when it is clean.' },
  ),
]);
export type Question = Static<typeof Question>;

export const ToAgent = Type.Union([
  Type.Object({ type: Type.Literal('challenge'), nonce: Type.String() }, closed),
  Type.Object(
    {
      type: Type.Literal('welcome'),
      agentId: Type.Integer(),
      controllerId: Type.String({ description: 'Of this installation; an agent that knows another one refuses.' }),
      limits: AgentLimits,
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('refused'),
      code: Type.String({
        description: 'Such as TOKEN_UNKNOWN, TOKEN_EXPIRED, UNKNOWN_AGENT, BLOCKED, CLONE, INCOMPATIBLE.',
      }),
      reason: Type.String(),
      retry: Type.Boolean({ description: 'Whether it makes sense to try again.' }),
    },
    closed,
  ),
  Type.Object({ type: Type.Literal('limits'), limits: AgentLimits }, closed),
  Type.Object(
    {
      type: Type.Literal('beat'),
      sentAt: Type.Number({ description: 'As the agent sent it.' }),
      at: Type.Number({ description: 'Clock of the controller.' }),
    },
    closed,
  ),
  Type.Object({ type: Type.Literal('question'), id: Type.Integer({ minimum: 1 }), question: Question }, closed),
  Type.Object(
    { type: Type.Literal('noFile'), sha256: Type.String(), reason: Type.String() },
    { ...closed, description: 'The file that was asked for cannot be had.' },
  ),
  Type.Object(
    { type: Type.Literal('forgetDump'), ...DumpName.properties },
    { ...closed, description: 'The dump is on disk at the controller, or nobody wants it: the agent may delete it.' },
  ),
  RunCommand,
]);
export type ToAgent = Static<typeof ToAgent>;

export const ToController = Type.Union([
  Greeting,
  Type.Object(
    {
      type: Type.Literal('heartbeat'),
      sentAt: Type.Number({ description: 'Clock of the agent.' }),
      clockOffsetMs: Type.Number({
        description: 'Clock of the controller minus clock of the agent, as last measured.',
      }),
      roundTripMs: Type.Number(),
      health: Type.Optional(AgentHealth),
    },
    closed,
  ),
  Type.Object({ type: Type.Literal('facts'), facts: AgentFacts }, closed),
  Type.Object(
    { type: Type.Literal('dumps'), dumps: Type.Array(DumpState, { maxItems: 1000 }) },
    { ...closed, description: 'Said now and then of dumps that are open, and once more when they are closed.' },
  ),
  Type.Object({ type: Type.Literal('logs'), lines: Type.Array(LogLine) }, closed),
  Type.Object(
    {
      type: Type.Literal('answer'),
      id: Type.Integer({ minimum: 1 }),
      ok: Type.Boolean(),
      error: Type.Optional(Type.String()),
      result: Type.Optional(Type.Unknown()),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('needFile'),
      sha256: Type.String(),
      offset: Type.Integer({ minimum: 0 }),
    },
    { ...closed, description: 'Bytes from `offset` on follow as binary messages, see `fileFrame`, until the end.' },
  ),
  RunReport,
]);
export type ToController = Static<typeof ToController>;

/** Largest message an agent may send; a larger one ends the session. What is longer goes in several. */
export const maxMessageBytes = 4 * 1024 * 1024;

const hashBytes = 32;
const offsetBytes = 8;
/** Largest piece of a file in one binary message. */
export const fileChunkBytes = 256 * 1024;

/** A binary message: SHA-256 of the file, offset as 64-bit big-endian, bytes. */
export const fileFrame = (sha256: string, offset: number, bytes: Uint8Array): Buffer => {
  const head = Buffer.alloc(hashBytes + offsetBytes);
  head.write(sha256, 'hex');
  head.writeBigUInt64BE(BigInt(offset), hashBytes);
  return Buffer.concat([head, bytes]);
};

export const parseFileFrame = (frame: Buffer): { sha256: string; offset: number; bytes: Buffer } => {
  if (frame.length < hashBytes + offsetBytes) throw new RangeError('file frame is cut off');
  return {
    sha256: frame.toString('hex', 0, hashBytes),
    offset: Number(frame.readBigUInt64BE(hashBytes)),
    bytes: frame.subarray(hashBytes + offsetBytes),
  };
};
