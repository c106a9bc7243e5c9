import type { Static } from 'typebox';
import { section, whole } from '../../protocols/field.ts';
import { grpc } from '../members/grpc.ts';
import { httpMembers, keepAlive } from '../members/http-params.ts';
import { exchangeTrace, journeys } from '../members/journeys.ts';
import { tcpOptions } from '../members/tcp-configuration.ts';
import { requestTlsParams } from '../members/tls-params.ts';
import { socketMembers } from '../members/traffic-members.ts';
import { milliseconds, requestLoad, sessionLoad, valuesOf } from '../members/values.ts';
import { webSocket } from '../members/web-socket.ts';
import {
  alertsOf,
  bytes,
  counter,
  errorsOf,
  family,
  gauge,
  generatorMetrics,
  latency,
  latencyFamily,
  loadMetricsOf,
  quicMetricsOf,
} from '../metrics.ts';
import { definePlugin } from '../plugin.ts';

const schema = valuesOf({
  ...socketMembers,
  httpParams: section('HTTP', { ...httpMembers, journeys, ...exchangeTrace, webSocket, grpc }),
  keepAlive,
  tlsParams: requestTlsParams,
  tcpConfiguration: tcpOptions,
  ...requestLoad,
  ...sessionLoad,
  requestInterval: milliseconds('Milliseconds between an answer and the next request of a connection', 0),
  maxStreams: whole('Requests under way on one HTTP/2 or HTTP/3 connection', 1, [1, 10_000]),
});
export type HttpValues = Static<typeof schema>;

const agent = (id: number) => ({ agent: { id } });

export const http = definePlugin({
  id: 1,
  name: 'http',
  title: 'HTTP',
  description:
    'HTTP/1.1 and HTTP/2, in the clear or by TLS, HTTP/3, WebSocket and gRPC, both sides. With `requestsPerSecond` requests begin at set times and latency counts from those times; with `rpsUnlimited` each connection goes as fast as answers come.',
  kind: 'traffic',
  hazard: 0,
  canPause: true,
  canChangeLoad: true,
  engines: ['http'],
  schema,
  examples: [
    {
      sources: [agent(1)],
      targets: [agent(2)],
      httpParams: { method: 'GET', path: '/' },
      requestsPerSecond: 1000,
      duration: { mode: 'time', seconds: 10 },
    },
    {
      sources: [agent(1)],
      targets: [{ ...agent(2), ports: '8443' }],
      tlsParams: { versions: ['1.3'] },
      httpParams: { version: '2', connections: 20, responseSize: 16_384 },
      maxStreams: 10,
      rpsUnlimited: true,
      duration: { mode: 'time', seconds: 60, rampUpSec: 5, warmUpSec: 5 },
    },
    {
      sources: [agent(1)],
      targets: [agent(2)],
      httpParams: {
        connections: 10,
        journeys: [
          {
            name: 'shop',
            steps: [
              { name: 'start', path: '/', checks: [{ kind: 'status', value: '200' }] },
              { kind: 'think', thinkMs: 500, thinkMaxMs: 2000, distribution: 'uniform' },
              { name: 'search', path: '/search?q=shoes' },
            ],
          },
        ],
      },
      rpsUnlimited: true,
      duration: { mode: 'time', seconds: 30 },
    },
    {
      sources: [agent(1)],
      targets: [agent(2)],
      httpParams: {
        path: '/chat',
        connections: 100,
        webSocket: { mode: 'echo', message: { type: 'text', text: 'hello' } },
      },
      requestsPerSecond: 1000,
      duration: { mode: 'time', seconds: 30 },
    },
  ],
  metrics: [
    counter('http.requests', 'Requests sent', { better: 'higher' }),
    counter('http.responses', 'Answers received', { better: 'higher' }),
    counter('http.ok', 'Answers as expected', { better: 'higher' }),
    counter('http.ko', 'Answers that were not as expected', { better: 'lower' }),
    family('http.status', 'status', 'Answers by status'),
    family('http.earlyData', 'result', 'Requests in the first flight of TLS, accepted or rejected by the server'),
    ...alertsOf('http'),
    errorsOf('http'),
    counter('http.unanswered', 'Requests whose answer had not come at the end', { better: 'lower' }),
    bytes('http.txBytes', 'Bytes sent above TCP'),
    bytes('http.rxBytes', 'Bytes received above TCP'),
    counter('http.connections', 'Connections established by the client'),
    counter('http.resumed', 'Connections whose TLS session was resumed'),
    gauge('http.concurrent', 'Connections open'),
    latency(
      'http.latency',
      'From the time a request was due to the end of its answer, or until it timed out or the run ended',
    ),
    latency('http.service', 'From the time a request was written to the end of its answer'),
    latency(
      'http.ttfb',
      'From the time a request was written to the first byte of its answer; requests without one are not in it',
    ),
    latency('http.connect', 'Opening of TCP connections'),
    latency('http.tls', 'TLS handshakes'),
    ...quicMetricsOf('http'),
    latency('http.upgrade', 'Opening of WebSockets, from the request to the answer 101'),
    counter('http.messagesSent', 'Messages sent on WebSockets and in gRPC calls'),
    counter('http.messagesReceived', 'Messages received on WebSockets and in gRPC calls'),
    latency(
      'http.messageLatency',
      'From the time a message was due to its echo; in gRPC calls, from its writing to the answer',
    ),
    latency('http.messageService', 'From the time a message was written to its echo'),
    latency('http.messageGap', 'Between two messages that a server sends by itself, on a WebSocket or in a gRPC call'),
    counter('http.messagesHeld', 'Messages that a server held back because its client did not read', {
      better: 'lower',
    }),
    family('http.grpcStatus', 'status', 'gRPC calls ended, by the name of their status'),
    latency('http.ping', 'From a ping to its pong'),
    family('http.closeCode', 'code', 'WebSockets closed, by the code of the first close frame'),
    counter('http.iterations', 'Iterations of journeys that have ended', { better: 'higher' }),
    counter('http.checksFailed', 'Checks of journeys that did not hold', { better: 'lower' }),
    family('http.journeyIterations', 'journey', 'Iterations that have ended, by journey'),
    family('http.journeyFailed', 'journey', 'Iterations with a failed request or check, by journey', 'lower'),
    latencyFamily('http.journeyTime', 'journey', 'From the begin of an iteration to its end, by journey'),
    family('http.stepRequests', 'step', 'Requests, by journey and step'),
    family('http.stepErrors', 'step', 'Requests without an answer, by journey and step', 'lower'),
    family('http.stepChecksFailed', 'step', 'Checks that did not hold, by journey and step', 'lower'),
    latencyFamily('http.stepLatency', 'step', 'From the time a step was due to its end, by journey and step'),
    counter('http.served', 'Requests answered by the server', { better: 'higher' }),
    counter('http.accepted', 'Connections taken by the server'),
    ...loadMetricsOf('http'),
    ...generatorMetrics,
  ],
});
