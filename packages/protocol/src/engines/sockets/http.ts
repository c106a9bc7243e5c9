import { type Static, Type } from 'typebox';
import { Listen, Rotation, Sources, Target } from '../endpoint.ts';
import { DataPath } from '../hosts/data-path.ts';
import { Load } from '../load.ts';
import { Payload } from '../payload.ts';
import { GrpcSettings } from './http-grpc.ts';
import { Header } from './http-header.ts';
import { Journeys } from './http-journeys.ts';
import { WebSocketSettings } from './http-web-socket.ts';
import { TcpTuning } from './tcp-tuning.ts';
import { TlsClientSettings, TlsServerSettings } from './tls-settings.ts';

const HttpVersion = Type.Union([Type.Literal('1.1'), Type.Literal('2'), Type.Literal('3')], {
  default: '1.1',
  description: 'HTTP/3 needs TLS settings.',
});

const KeepAlive = Type.Object(
  {
    enabled: Type.Boolean({ default: true }),
    maxRequests: Type.Integer({ minimum: 0, default: 0, description: 'Maximum requests per connection; 0: no limit.' }),
    idleMs: Type.Integer({ minimum: 0, default: 0, description: 'Close idle connections after this time; 0: never.' }),
  },
  { additionalProperties: false, default: {} },
);

const Expectation = Type.Object(
  {
    status: Type.Array(Type.Integer({ minimum: 100, maximum: 599 }), {
      default: [],
      description: 'Statuses that count as ok; empty: 200 to 399.',
    }),
    bodyContains: Type.Optional(Type.String({ minLength: 1 })),
  },
  { additionalProperties: false, default: {} },
);

export const HttpClientConfig = Type.Object(
  {
    role: Type.Literal('client'),
    targets: Type.Array(Target, { minItems: 1 }),
    rotation: Rotation,
    sources: Sources,
    dataPath: Type.Optional(DataPath),
    tuning: Type.Optional(TcpTuning),
    version: HttpVersion,
    tls: Type.Optional(TlsClientSettings),
    method: Type.String({ pattern: '^[A-Z]+$', default: 'GET' }),
    path: Type.String({ pattern: '^/[^\\s]*$', default: '/', description: 'Path with query.' }),
    host: Type.Optional(Type.String({ description: 'Host header; the target by default.' })),
    headers: Type.Array(Header, { default: [] }),
    body: Type.Optional(Payload),
    followRedirects: Type.Integer({
      minimum: 0,
      maximum: 20,
      default: 0,
      description: 'Redirects to follow on the same host.',
    }),
    expect: Expectation,
    journeys: Type.Optional(Journeys),
    webSocket: Type.Optional(WebSocketSettings),
    grpc: Type.Optional(GrpcSettings),
    timeoutMs: Type.Integer({ minimum: 1, default: 10_000 }),
    connections: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 50,
      description: 'Maximum number of concurrent connections.',
    }),
    openSessions: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, description: 'Connections to keep open at first; changes during the run.' }),
    ),
    pipelining: Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 1,
      description: 'Requests in flight per HTTP/1.1 connection.',
    }),
    maxStreams: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 1,
      description: 'Requests in flight per HTTP/2 or HTTP/3 connection.',
    }),
    load: Load,
    sessionsPerSecond: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, description: 'New connections per second, open model.' }),
    ),
    totalSessions: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Total number of connections; the run ends after the last one.' }),
    ),
    reopenSessionMs: Type.Integer({
      minimum: 0,
      default: 0,
      description: 'Wait before a closed connection is reopened.',
    }),
    requestIntervalMs: Type.Number({
      minimum: 0,
      default: 0,
      description: 'Pause between a response and the next request on a connection.',
    }),
    portChangeMs: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'HTTP/3: connections go on from another port after this time, again and again.',
      }),
    ),
    keepAlive: KeepAlive,
  },
  { additionalProperties: false },
);
export type HttpClientConfig = Static<typeof HttpClientConfig>;

export const HttpServerConfig = Type.Object(
  {
    role: Type.Literal('server'),
    dataPath: Type.Optional(DataPath),
    tuning: Type.Optional(TcpTuning),
    listen: Type.Array(Listen, { minItems: 1 }),
    version: HttpVersion,
    altSvc: Type.Optional(
      Type.Boolean({
        description: 'HTTP/1.1 and HTTP/2: serve HTTP/3 on the same ports, too, and say so in every response.',
      }),
    ),
    retry: Type.Optional(Type.Boolean({ description: 'HTTP/3: have clients prove their address by a Retry packet.' })),
    tls: Type.Optional(TlsServerSettings),
    webSocket: Type.Optional(WebSocketSettings),
    grpc: Type.Optional(GrpcSettings),
    responses: Type.Array(
      Type.Object(
        {
          weight: Type.Number({ exclusiveMinimum: 0, default: 1 }),
          status: Type.Integer({ minimum: 200, maximum: 599, default: 200 }),
          headers: Type.Array(Header, { default: [] }),
          body: Payload,
          delayMs: Type.Number({ minimum: 0, default: 0 }),
          isChunked: Type.Boolean({ default: false }),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, default: [{}], description: 'Responses, chosen by weight.' },
    ),
    keepAlive: KeepAlive,
  },
  { additionalProperties: false },
);
export type HttpServerConfig = Static<typeof HttpServerConfig>;

export const HttpConfig = Type.Union([HttpClientConfig, HttpServerConfig]);
export type HttpConfig = Static<typeof HttpConfig>;
