import { type Static, Type } from 'typebox';
import { count as countOf, long, short } from '../bounds.ts';
import { word } from '../word.ts';
import { Exchange } from './exchange.ts';

const closed = { additionalProperties: false } as const;
const count = countOf();
const sha256 = Type.String({ pattern: '^([0-9a-f]{64})?$', description: 'Empty for no bytes.' });
const elapsedMs = (description: string) =>
  Type.Number({ minimum: 0, maximum: 1e12, description: `${description}, after the start.` });
const attemptId = countOf({ description: 'Index in the file of attempts.' });

/** One attack, sample or benign request that a client sends through the device under test. */
export const Attempt = Type.Object(
  {
    id: attemptId,
    kind: word(['cve', 'malware', 'waf', 'fuzz', 'campaign', 'benign']),
    refId: Type.Integer({ minimum: 0, description: 'Signature, sample, campaign or dictionary; 0 without a record.' }),
    refName: Type.String({ maxLength: 256 }),
    payload: Type.Optional(Type.String({ maxLength: 2048, description: 'The payload before it was encoded.' })),
    variant: Type.String({ maxLength: 256, description: 'Distinguishes attempts of the same reference.' }),
    category: Type.String({ maxLength: 64, description: 'Row of the matrix, such as sql-injection.' }),
    expected: word(['block', 'detect', 'allow']),
    severity: word(['info', 'low', 'medium', 'high', 'critical', 'unknown']),
    techniques: Type.Array(Type.String({ maxLength: 16 }), { maxItems: 16 }),
    direction: word(['c2s', 's2c']),
    service: Type.String({ minLength: 1, maxLength: 64, description: 'Service of the targets and listeners.' }),
    exchange: Exchange,
    addressIndex: Type.Optional(
      countOf({ description: 'Goes to the address of this number among those of its service; else they take turns.' }),
    ),
    delayMs: Type.Optional(Type.Number({ minimum: 0, description: 'Wait before it, in addition to the rate.' })),
    requires: Type.Optional(Type.Array(attemptId, { description: 'Skipped unless these attempts have passed.' })),
    host: Type.Optional(
      countOf({ description: 'Sent from the source address of this number; hosts act at the same time.' }),
    ),
    channel: Type.Optional(Type.String({ maxLength: 64 })),
    confirms: Type.Optional(countOf({ description: 'Repeats this attempt: the outcome counts only when both agree.' })),
    onBlocked: Type.Optional(
      word(['continue', 'stop', 'next-channel'], {
        description: 'stop: skip all further attempts; next-channel: skip the rest of its channel.',
      }),
    ),
  },
  closed,
);
export type Attempt = Static<typeof Attempt>;

/** A difference between a message as it was sent and as it arrived. */
export const MessageChange = Type.Object(
  {
    part: word(['request line', 'request header', 'request body', 'status', 'response header', 'response body']),
    kind: word(['normalised', 'dropped', 'added', 'compressed', 'changed'], {
      description: 'changed: the content is another one; all others keep the meaning.',
    }),
    detail: Type.String({ maxLength: 300 }),
  },
  closed,
);
export type MessageChange = Static<typeof MessageChange>;

/** Fingerprints of what a TLS client offered. */
export const TlsFingerprint = Type.Object(
  { ja3: Type.String({ maxLength: 32 }), ja4: Type.String({ maxLength: 64 }) },
  closed,
);
export type TlsFingerprint = Static<typeof TlsFingerprint>;

const changes = Type.Optional(Type.Array(MessageChange, { maxItems: 16 }));

/** Observation of an attempt by the client. */
export const ClientObservation = Type.Object(
  {
    side: Type.Literal('client'),
    attempt: attemptId,
    target: short({ description: 'Target as host:port.' }),
    ip: short({ description: 'Source address; empty without a socket.' }),
    port: count,
    connect: word(['ok', 'refused', 'timeout', 'unreachable', 'tls-failed', 'none']),
    isComplete: Type.Boolean({ description: 'The request was sent completely.' }),
    sentBytes: count,
    sentSha256: sha256,
    end: word(['response', 'reset', 'fin', 'timeout', 'alert', 'none']),
    status: countOf({ description: 'Protocol status, such as 403; 0: none.' }),
    rxBytes: count,
    rxSha256: sha256,
    responseIsOurs: Type.Boolean({ description: 'The response carries the marker of our own server.' }),
    isAltered: Type.Optional(
      Type.Boolean({ description: 'The response is ours, changed on its way without loss of content.' }),
    ),
    changes,
    tls: Type.Optional(TlsFingerprint),
    tries: Type.Optional(countOf({ description: 'Times it was sent; 1 when left out.' })),
    isRateLimited: Type.Optional(
      Type.Boolean({ description: 'It got the status of a rate limit, and harmless requests got it too.' }),
    ),
    isBare: Type.Optional(Type.Boolean({ description: 'Sent past the device, to see what the path does by itself.' })),
    ttfbMs: Type.Number({ minimum: 0, maximum: 1e12 }),
    startedMs: elapsedMs('When it began'),
    endedMs: elapsedMs('When it ended'),
    isShunned: Type.Boolean({ description: 'Afterwards this source address got no answer, but another one did.' }),
    skipped: Type.Optional(
      word(['path_not_proven', 'requirement_failed', 'stopped', 'channel_left', 'no_address'], {
        description: 'Reason why nothing was sent.',
      }),
    ),
    error: Type.Optional(Type.String({ maxLength: 500, description: 'Local error of the agent.' })),
    excerpt: Type.Optional(long({ description: 'Start of a response that is not from our server, base64.' })),
  },
  closed,
);
export type ClientObservation = Static<typeof ClientObservation>;

/** Observation of one step of an attempt by our server. Steps that did not arrive have none. */
export const ServerObservation = Type.Object(
  {
    side: Type.Literal('server'),
    attempt: Type.Union([attemptId, Type.Null()], { description: 'Null when it could not be identified.' }),
    step: count,
    correlation: word(['token', 'content', 'order', 'none'], { description: 'How the attempt was identified.' }),
    ip: short(),
    port: count,
    peerIp: short(),
    peerPort: count,
    seen: word(['connected', 'partial', 'full', 'modified']),
    changes,
    tls: Type.Optional(TlsFingerprint),
    isBare: Type.Optional(Type.Boolean()),
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

/** A control exchange: a harmless request that only our own server can answer. */
export const ControlObservation = Type.Object(
  {
    side: Type.Literal('control'),
    reason: word(['path', 'before', 'periodic', 'silent-drop', 'other-address', 'end']),
    service: short(),
    target: short(),
    ip: short(),
    isGood: Type.Boolean(),
    detail: Type.String({ maxLength: 500 }),
    startedMs: elapsedMs('When it began'),
    endedMs: elapsedMs('When it ended'),
  },
  closed,
);
export type ControlObservation = Static<typeof ControlObservation>;

/** A finding of fuzzing. */
export const FindingObservation = Type.Object(
  {
    side: Type.Literal('finding'),
    kind: word(['health-lost', 'latency-spike', 'unexpected-accept', 'connection-limit']),
    attempt: Type.Union([attemptId, Type.Null()], { description: 'The responsible case; null when unknown.' }),
    name: Type.String({ maxLength: 256, description: 'Name of the case; seed and number reproduce it.' }),
    target: short(),
    detail: Type.String({ maxLength: 500 }),
    reproducer: Type.Optional(Exchange),
    repeats: Type.Optional(
      countOf({ description: 'The case that made this finding first; this one has the same cause.' }),
    ),
    atMs: elapsedMs('When it was found'),
  },
  closed,
);
export type FindingObservation = Static<typeof FindingObservation>;

/** Records of attempts; sent in order, exactly once, with the summaries. */
export const AttemptRecord = Type.Union([ClientObservation, ServerObservation, ControlObservation, FindingObservation]);
export type AttemptRecord = Static<typeof AttemptRecord>;
