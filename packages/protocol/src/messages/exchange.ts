import { type Static, Type } from 'typebox';
import { word } from '../word.ts';

const closed = { additionalProperties: false } as const;
const wait = Type.Optional(Type.Number({ minimum: 0, description: 'Wait before it, in milliseconds.' }));

/** Bytes, inline or in one of the files of the configuration. */
export const Content = Type.Union([
  Type.Object({ data: Type.String({ description: 'Base64.' }) }, closed),
  Type.Object({ file: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the plaintext.' }) }, closed),
]);
export type Content = Static<typeof Content>;

const Header = Type.Object({ name: Type.String(), value: Type.String() }, closed);

/** Forms of packets that only emulated hosts send; those at the other end read the same bytes. */
const packetForms = [
  'tcp-segment-1',
  'tcp-segment-8',
  'tcp-out-of-order',
  'tcp-overlap',
  'tcp-urgent',
  'tcp-checksum-decoy',
  'ip-fragment-24',
  'ip-ttl-decoy',
] as const;
export type PacketForm = (typeof packetForms)[number];

/** Segmentation of the sent bytes. */
const delivery = {
  packets: Type.Optional(word(packetForms)),
  segmentBytes: Type.Optional(Type.Integer({ minimum: 1, description: 'Segment size.' })),
  gapMs: Type.Optional(Type.Number({ minimum: 0, description: 'Pause between segments.' })),
};

export const HttpRequest = Type.Object(
  {
    method: Type.String({ minLength: 1, maxLength: 64 }),
    path: Type.String({ minLength: 1, description: 'Request target, written to the request line as is.' }),
    version: word(['1.0', '1.1', '2']),
    headers: Type.Array(Header, { description: 'Host, Content-Length and marker are added when missing.' }),
    body: Type.Optional(Content),
    chunked: Type.Optional(Type.Boolean()),
    exact: Type.Optional(Type.Boolean({ description: 'Nothing but the marker is added, after all headers.' })),
  },
  closed,
);
export type HttpRequest = Static<typeof HttpRequest>;

export const HttpAnswer = Type.Object(
  {
    mode: word(['canned', 'echo', 'empty', 'silent'], { description: 'silent: the server never answers.' }),
    status: Type.Integer({ minimum: 200, maximum: 599 }),
    headers: Type.Array(Header),
    body: Type.Optional(Content),
    chunked: Type.Optional(Type.Boolean()),
    trailers: Type.Optional(Type.Array(Header, { description: 'After the body, over HTTP/2 only.' })),
  },
  closed,
);
export type HttpAnswer = Static<typeof HttpAnswer>;

/** What a TLS client offers, as far as OpenSSL can be configured: its extensions keep their own order. */
export const TlsHello = Type.Object(
  {
    versions: Type.Array(word(['1.2', '1.3']), { minItems: 1, maxItems: 2 }),
    ciphers: Type.String({ maxLength: 4096, description: 'In this order; suites of TLS 1.3 come first in any case.' }),
    groups: Type.String({ maxLength: 512, description: 'Such as X25519:P-256.' }),
    signatures: Type.Optional(Type.String({ maxLength: 1024, description: 'Such as ECDSA+SHA256:RSA-PSS+SHA256.' })),
    alpn: Type.Array(Type.String({ maxLength: 32 }), { maxItems: 8 }),
    ticket: Type.Boolean({ description: 'Asks for session tickets.' }),
    encryptThenMac: Type.Boolean(),
    extendedSecret: Type.Boolean(),
    status: Type.Boolean({ description: 'Asks for the status of the certificate.' }),
  },
  closed,
);
export type TlsHello = Static<typeof TlsHello>;

export const HttpExchange = Type.Object(
  {
    protocol: Type.Literal('http'),
    steps: Type.Array(Type.Object({ request: HttpRequest, answer: HttpAnswer, delayMs: wait }, closed), {
      minItems: 1,
      maxItems: 20,
      description: 'Sent in order, on one connection if the server allows it.',
    }),
    hello: Type.Optional(TlsHello),
    ...delivery,
  },
  closed,
);
export type HttpExchange = Static<typeof HttpExchange>;

export const RawExchange = Type.Object(
  {
    protocol: Type.Literal('raw'),
    transport: word(['tcp', 'udp']),
    sends: Type.Array(
      Type.Object(
        {
          content: Content,
          delayMs: wait,
          waitResponse: Type.Boolean({ description: 'Wait for the answer before the next send.' }),
        },
        closed,
      ),
      { minItems: 1, maxItems: 20 },
    ),
    answers: Type.Array(Content, { maxItems: 20, description: 'After each send that waits; the last one repeats.' }),
    greeting: Type.Optional(Content),
    ...delivery,
  },
  closed,
);
export type RawExchange = Static<typeof RawExchange>;

export const DnsExchange = Type.Object(
  {
    protocol: Type.Literal('dns'),
    transport: word(['udp', 'tcp']),
    qname: Type.String({ minLength: 1, maxLength: 253 }),
    qtype: word(['A', 'AAAA', 'TXT', 'MX', 'CNAME']),
    rcode: word(['NOERROR', 'NXDOMAIN']),
    answers: Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 16, description: 'As in a zone file.' }),
  },
  closed,
);
export type DnsExchange = Static<typeof DnsExchange>;

/** A file transfer: `up` from client to server, `down` from server to client. */
export const FileExchange = Type.Object(
  {
    protocol: word(['ftp', 'smtp', 'pop3', 'imap']),
    direction: word(['up', 'down']),
    name: Type.String({ minLength: 1, maxLength: 255 }),
    contentType: Type.String({ maxLength: 255 }),
    content: Content,
  },
  closed,
);
export type FileExchange = Static<typeof FileExchange>;

export const IcmpExchange = Type.Object(
  {
    protocol: Type.Literal('icmp'),
    content: Content,
    count: Type.Integer({ minimum: 1, maximum: 1000 }),
    intervalMs: Type.Number({ minimum: 0 }),
  },
  closed,
);
export type IcmpExchange = Static<typeof IcmpExchange>;

/** A connection that is opened and closed again, to learn whether a port is open. */
export const ScanExchange = Type.Object(
  {
    protocol: Type.Literal('scan'),
    port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'At the address of the target.' }),
    isOpen: Type.Boolean({ description: 'The server listens there; at other ports its machine refuses.' }),
    timeoutMs: Type.Integer({ minimum: 1, maximum: 60_000 }),
  },
  closed,
);
export type ScanExchange = Static<typeof ScanExchange>;

/** Messages of both ends; each protocol has a driver in the agent, except scans, which use that of their service. */
export const Exchange = Type.Union([HttpExchange, RawExchange, DnsExchange, FileExchange, IcmpExchange, ScanExchange]);
export type Exchange = Static<typeof Exchange>;
export type ExchangeProtocol = Exchange['protocol'];
