import { type Static, Type } from 'typebox';
import { Exchange } from './exchange.ts';
import { word } from './word.ts';

const closed = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0 });
const sha256 = Type.String({ pattern: '^([0-9a-f]{64})?$', description: 'Empty when there was nothing.' });
const elapsedMs = (description: string) => Type.Number({ minimum: 0, description: `${description}, after the start.` });
const attemptId = Type.Integer({ minimum: 0, description: 'Place in the file of attempts.' });

/** One thing a client tries to bring past the device under test. */
export const Attempt = Type.Object(
  {
    id: attemptId,
    kind: word(['cve', 'malware', 'waf', 'fuzz', 'campaign', 'benign']),
    refId: Type.Integer({ minimum: 0, description: 'Signature, sample, campaign or dictionary; 0 without a record.' }),
    refName: Type.String({ maxLength: 256 }),
    variant: Type.String({ maxLength: 256, description: 'Sets it apart from others of the same reference.' }),
    category: Type.String({ maxLength: 64, description: 'Row of the matrix, such as sql-injection.' }),
    expected: word(['block', 'detect', 'allow']),
    severity: word(['info', 'low', 'medium', 'high', 'critical', 'unknown']),
    techniques: Type.Array(Type.String({ maxLength: 16 }), { maxItems: 16 }),
    direction: word(['c2s', 's2c']),
    service: Type.String({ minLength: 1, maxLength: 64, description: 'Which targets and listeners carry it.' }),
    exchange: Exchange,
    delayMs: Type.Optional(Type.Number({ minimum: 0, description: 'Wait before it, whatever the rate.' })),
    requires: Type.Optional(Type.Array(attemptId, { description: 'Left out unless these have come through.' })),
    channel: Type.Optional(Type.String({ maxLength: 64 })),
    onBlocked: Type.Optional(
      word(['continue', 'stop', 'next-channel'], {
        description: 'stop: nothing more is tried; next-channel: the rest of its channel is left out.',
      }),
    ),
  },
  closed,
);
export type Attempt = Static<typeof Attempt>;

/** What a client saw of an attempt. */
export const ClientObservation = Type.Object(
  {
    side: Type.Literal('client'),
    attempt: attemptId,
    target: Type.String({ description: 'host:port it was sent to.' }),
    ip: Type.String({ description: 'Own address; empty when there was no socket.' }),
    port: count,
    connect: word(['ok', 'refused', 'timeout', 'unreachable', 'tls-failed', 'none']),
    isComplete: Type.Boolean({ description: 'The whole request was handed to the network.' }),
    sentBytes: count,
    sentSha256: sha256,
    end: word(['response', 'reset', 'fin', 'timeout', 'alert', 'none']),
    status: Type.Integer({ minimum: 0, description: 'Of the protocol, such as 403; 0 without one.' }),
    rxBytes: count,
    rxSha256: sha256,
    responseIsOurs: Type.Boolean({ description: 'What came back bears the mark of our own server.' }),
    ttfbMs: Type.Number({ minimum: 0 }),
    startedMs: elapsedMs('When it began'),
    endedMs: elapsedMs('When it ended'),
    isShunned: Type.Boolean({ description: 'Afterwards this address got no answer, but another did.' }),
    skipped: Type.Optional(
      word(['path_not_proven', 'requirement_failed', 'stopped', 'channel_left'], { description: 'Nothing was sent.' }),
    ),
    error: Type.Optional(Type.String({ maxLength: 500, description: 'Why the agent itself could not do it.' })),
    excerpt: Type.Optional(Type.String({ description: 'Beginning of a foreign answer, base64.' })),
  },
  closed,
);
export type ClientObservation = Static<typeof ClientObservation>;

/** What our server saw of one step of an attempt. What never arrived has none. */
export const ServerObservation = Type.Object(
  {
    side: Type.Literal('server'),
    attempt: Type.Union([attemptId, Type.Null()], { description: 'Null where nothing in it tells.' }),
    step: count,
    correlation: word(['token', 'content', 'order', 'none'], { description: 'How the attempt was recognised.' }),
    ip: Type.String(),
    port: count,
    peerIp: Type.String(),
    peerPort: count,
    seen: word(['connected', 'partial', 'full', 'modified']),
    rxBytes: count,
    rxSha256: sha256,
    sentBytes: count,
    sentSha256: sha256,
    end: word(['reset', 'fin', 'timeout', 'none']),
    atMs: elapsedMs('When it arrived'),
  },
  closed,
);
export type ServerObservation = Static<typeof ServerObservation>;

/** A harmless exchange whose answer only our own server can give. */
export const ControlObservation = Type.Object(
  {
    side: Type.Literal('control'),
    reason: word(['path', 'before', 'periodic', 'silent-drop', 'other-address', 'end']),
    service: Type.String(),
    target: Type.String(),
    ip: Type.String(),
    isGood: Type.Boolean(),
    detail: Type.String({ maxLength: 500 }),
    startedMs: elapsedMs('When it began'),
    endedMs: elapsedMs('When it ended'),
  },
  closed,
);
export type ControlObservation = Static<typeof ControlObservation>;

/** Something that fuzzing found out about a target. */
export const FindingObservation = Type.Object(
  {
    side: Type.Literal('finding'),
    kind: word(['health-lost', 'latency-spike', 'unexpected-accept', 'connection-limit']),
    attempt: Type.Union([attemptId, Type.Null()], { description: 'The case that did it; null where none is known.' }),
    name: Type.String({ maxLength: 256, description: 'Of the case; with seed and number it can be made again.' }),
    target: Type.String(),
    detail: Type.String({ maxLength: 500 }),
    reproducer: Type.Optional(Exchange),
    atMs: elapsedMs('When it was found'),
  },
  closed,
);
export type FindingObservation = Static<typeof FindingObservation>;

/** What engines tell besides numbers; carried in order, once, by the summaries. */
export const AttemptRecord = Type.Union([ClientObservation, ServerObservation, ControlObservation, FindingObservation]);
export type AttemptRecord = Static<typeof AttemptRecord>;
