import { type HttpValues, httpPlugin } from '@rushhour/contract';
import { findAddress } from '@rushhour/pools';
import type { HttpClientConfig, HttpServerConfig } from '@rushhour/protocol';
import { searchedSessions } from '../../core/load/load-stages.ts';
import { type ClientDraft, type ClientPart, maxConcurrent, type Traffic } from '../../core/load/traffic.ts';
import { estimateTcp, type TrafficEstimate } from '../../core/load/traffic-estimate.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { planner } from '../../core/planner.ts';
import { clientTls, serverTls, type TlsParams } from '../../endpoints/tls-settings.ts';
import { type MeasuredPayload, payloadAt } from '../payloads.ts';
import { type PlannedGrpc, planGrpc } from './http-grpc.ts';
import { journeysFor, type PlannedJourneys, planJourneys } from './http-journeys.ts';
import { type PlannedWebSocket, planWebSocket } from './http-web-socket.ts';
import { loadOf, tuningOf } from './load-and-tuning.ts';

type HttpParams = HttpValues['httpParams'];

/** What a client asks, wherever it was written: in the address, the path, the query or among the cookies. */
export interface HttpRequest {
  readonly path: string;
  readonly headers: HttpClientConfig['headers'];
  /** For the Host header; undefined entries it to the target. */
  readonly host: string | undefined;
  /** The name to ask for in TLS; an address is none. */
  readonly serverName: string | undefined;
  readonly isHttps: boolean;
}

const withQuery = (path: string, query: HttpParams['query']): string => {
  if (query.length === 0) return path;
  const pairs = query.map(({ name, value }) => `${encode(name)}=${encode(value)}`);
  return `${path}${path.includes('?') ? '&' : '?'}${pairs.join('&')}`;
};

const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

/** A request line holds visible ASCII only. */
const visible = (path: string): string => path.toWellFormed().replace(/[^\x21-\x7e]+/gu, encode);

const withCookies = ({ headers, cookies }: HttpParams): HttpClientConfig['headers'] => {
  if (cookies.length === 0) return headers;
  const given = headers.find(({ name }) => name.toLowerCase() === 'cookie');
  const pairs = cookies.map(({ name, value }) => `${name}=${value}`);
  const value = [...(given ? [given.value] : []), ...pairs].join('; ');
  return [...headers.filter((header) => header !== given), { name: 'Cookie', value }];
};

const nameOf = (host: string | undefined): string | undefined => {
  const name = host?.replace(/:\d+$/, '');
  return name === undefined || name.startsWith('[') || findAddress(name) ? undefined : name;
};

/** The path of an address, written as requests have it. */
const pathOf = (url: URL): string => `${url.pathname}${url.search}`;

const requestOf = (params: HttpParams): HttpRequest => {
  const url = params.url !== undefined && URL.canParse(params.url) ? new URL(params.url) : undefined;
  const host = params.host ?? url?.host;
  return {
    path: url ? pathOf(url) : withQuery(visible(params.path), params.query),
    headers: withCookies(params),
    host,
    serverName: nameOf(host),
    isHttps: url?.protocol === 'https:',
  };
};

/** Bytes of the request line and headers, for estimates. */
const requestBytes = ({ path, headers }: HttpRequest, bodyBytes: number): number =>
  headers.reduce((sum, { name, value }) => sum + name.length + value.length + 4, 0) + path.length + 60 + bodyBytes;

const plainTls: TlsParams = {
  versions: ['1.2', '1.3'],
  alpn: [],
  verify: false,
  resumption: 'none',
  closeNotify: true,
};
const answerHeadBytes = 120;

type Answers = readonly { measured: MeasuredPayload; response: object; weight: number }[];

/** HTTP/1.1, HTTP/2 and HTTP/3, both sides. */
const planHttp = (scope: PlanScope, values: HttpValues): Traffic => {
  const { httpParams, requestsPerSecond, rpsUnlimited, sessionsPerSecond, totalSessions } = values;
  const request = requestOf(httpParams);
  const isHttp3 = httpParams.version === '3';
  const tls = values.tlsParams ?? (request.isHttps || isHttp3 ? plainTls : undefined);
  reportQuic(scope, values, tls);
  reportOddities(scope, values);
  const answers = answersOf(scope, values);
  const journeys = planJourneys(scope, values);
  const webSocket = planWebSocket(scope, values);
  const grpc = planGrpc(scope, values);
  return {
    engine: 'http',
    transport: isHttp3 ? 'udp' : 'tcp',
    defaultPorts: tls === undefined ? '18080' : '18443',
    takesRanges: true,
    rates: [rpsUnlimited ? undefined : requestsPerSecond, sessionsPerSecond],
    totals: [totalSessions],
    client: (part) => clientOf(scope, { values, request, tls, answers, journeys, webSocket, grpc, part }),
    server: () => ({ config: serverOf(scope, { values, tls, answers, webSocket, grpc }) }),
  };
};

/** What HTTP/3 cannot do. */
const reportQuic = (scope: PlanScope, { httpParams }: HttpValues, tls: TlsParams | undefined): void => {
  const { version, altSvc } = httpParams;
  if (version !== '3' && !altSvc) return;
  const member = version === '3' ? 'version' : 'altSvc';
  const refuse = (message: string, ...at: string[]) =>
    scope.issues.error(pointerIn(scope, ...at), 'NOT_SUPPORTED', message);
  if (version === '3' && altSvc) refuse('tells of HTTP/3 over HTTP/1.1 and HTTP/2', 'httpParams', 'altSvc');
  if (tls === undefined) refuse('HTTP/3 needs a certificate: give tlsParams', 'httpParams', member);
  if (tls !== undefined && tls.versions.length > 0 && !tls.versions.includes('1.3'))
    refuse('HTTP/3 needs TLS 1.3', 'tlsParams', 'versions');
};

const reportOddities = (scope: PlanScope, { httpParams, requestsPerSecond, ...values }: HttpValues): void => {
  const { issues } = scope;
  if (httpParams.url !== undefined && !URL.canParse(httpParams.url)) {
    issues.error(pointerIn(scope, 'httpParams', 'url'), 'URL_INVALID', 'is no address');
  }
  if (values.rpsUnlimited && requestsPerSecond !== undefined) {
    issues.warning(pointerIn(scope, 'requestsPerSecond'), 'RATE_IGNORED', 'is ignored because of rpsUnlimited');
  }
  const hasRate = values.rpsUnlimited || requestsPerSecond !== undefined || values.sessionsPerSecond !== undefined;
  if (!hasRate && !values.isServer) {
    const message = 'no rate is given: each connection sends its next request once it has the answer';
    issues.info(pointerIn(scope, 'requestsPerSecond'), 'LOAD_UNLIMITED', message);
  }
};

/** Members that hold payloads, whose files the agent puts in. */
type PlannedMembers = 'body' | 'journeys' | 'webSocket' | 'grpc';

interface ClientWork {
  readonly values: HttpValues;
  readonly request: HttpRequest;
  readonly tls: TlsParams | undefined;
  readonly answers: Answers;
  readonly journeys: PlannedJourneys | undefined;
  readonly webSocket: PlannedWebSocket | undefined;
  readonly grpc: PlannedGrpc | undefined;
  readonly part: ClientPart;
}

const clientOf = (scope: PlanScope, work: ClientWork): ClientDraft => {
  const { values, request, tls, journeys, webSocket, grpc, part } = work;
  const { httpParams: params, totalSessions } = values;
  const body = params.body && payloadAt(scope, params.body, 'httpParams', 'body');
  const sessionsPerSecond = part.rate(values.sessionsPerSecond);
  const load = loadOf(part, { ...values, rate: values.rpsUnlimited ? undefined : values.requestsPerSecond });
  const { first, max = params.connections } = searchedSessions(values);
  const [openSessions, connections] = [part.rate(first), part.concurrentShare(max, maxConcurrent.tcp)];
  const config: Omit<HttpClientConfig, PlannedMembers> & { [Member in PlannedMembers]?: object } = {
    role: 'client',
    targets: part.targets,
    rotation: part.rotation,
    sources: part.sources,
    version: params.version,
    ...(tls && { tls: clientTls(scope, tls, request.serverName) }),
    method: grpc === undefined ? params.method : 'POST',
    path: request.path,
    ...(request.host !== undefined && { host: request.host }),
    headers: [...request.headers, ...(grpc?.headers ?? [])],
    ...(body && { body: body.payload }),
    followRedirects: params.followRedirects,
    expect: params.expect,
    timeoutMs: params.timeoutMs,
    connections,
    ...(openSessions !== undefined && { openSessions }),
    ...(journeys && { journeys: journeysFor(scope, journeys, part, connections) }),
    ...(webSocket && { webSocket: webSocket.settings }),
    ...(grpc && { grpc: grpc.settings }),
    pipelining: params.pipelining,
    maxStreams: values.maxStreams,
    load,
    ...(sessionsPerSecond !== undefined && { sessionsPerSecond }),
    ...(totalSessions !== undefined && { totalSessions: part.whole(totalSessions) }),
    reopenSessionMs: values.reopenSessionTime,
    requestIntervalMs: values.requestInterval,
    ...(params.portChangeMs > 0 && { portChangeMs: params.portChangeMs }),
    keepAlive: values.keepAlive,
    ...tuningOf(scope, values),
  };
  const hasRate = (load.rate ?? sessionsPerSecond ?? openSessions) !== undefined;
  const estimate = estimateOf(work, config, webSocket?.messageBytes ?? grpc?.callBytes ?? body?.bytes ?? 0);
  return { config, estimate, hasRate };
};

const estimateOf = (
  { request, answers, values }: ClientWork,
  { connections, load, sessionsPerSecond = 0 }: Pick<HttpClientConfig, 'connections' | 'load' | 'sessionsPerSecond'>,
  bodyBytes: number,
): TrafficEstimate => {
  const weight = answers.reduce((sum, answer) => sum + answer.weight, 0);
  const answerBytes = answers.reduce((sum, answer) => sum + (answer.measured.bytes * answer.weight) / weight, 0);
  const { enabled, maxRequests } = values.keepAlive;
  const opens = enabled ? (maxRequests > 0 ? (load.rate ?? 0) / maxRequests : sessionsPerSecond) : (load.rate ?? 0);
  return {
    connections,
    opens,
    ...estimateTcp({
      rate: load.rate ?? sessionsPerSecond,
      sentBytes: requestBytes(request, bodyBytes),
      receivedBytes: answerHeadBytes + answerBytes,
    }),
  };
};

/** Answers as they are written, or the one that size and delay describe. */
const answersOf = (scope: PlanScope, { httpParams: params }: HttpValues): Answers => {
  if (params.responses.length === 0) {
    const measured = {
      payload: { type: 'zero' as const, size: params.responseSize, data: '' },
      bytes: params.responseSize,
    };
    return [{ measured, weight: 1, response: { body: measured.payload, delayMs: params.delayMs } }];
  }
  return params.responses.map(({ body, chunked, ...response }, i) => {
    const measured = payloadAt(scope, body, 'httpParams', 'responses', i, 'body');
    return { measured, weight: response.weight, response: { ...response, body: measured.payload, isChunked: chunked } };
  });
};

interface PlannedServer {
  readonly responses: object[];
  readonly webSocket?: object;
  readonly grpc?: object;
}

const serverOf = (
  scope: PlanScope,
  { values, tls, answers, webSocket, grpc }: Pick<ClientWork, 'values' | 'tls' | 'answers' | 'webSocket' | 'grpc'>,
): Omit<HttpServerConfig, 'listen' | 'responses' | 'webSocket' | 'grpc'> & PlannedServer => ({
  role: 'server',
  version: values.httpParams.version,
  ...(values.httpParams.altSvc && { altSvc: true }),
  ...(values.httpParams.retry && { retry: true }),
  ...(tls && { tls: serverTls(scope, tls) }),
  ...(webSocket && { webSocket: webSocket.settings }),
  ...(grpc && { grpc: grpc.settings }),
  responses: answers.map(({ response }) => response),
  keepAlive: values.keepAlive,
  ...tuningOf(scope, values),
});

export const httpPlanner = planner(httpPlugin, planHttp);
