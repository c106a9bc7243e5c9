import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt, HttpExchange, MessageChange } from '@rushhour/protocol';
import type { AttackRoute, ClientContext, ClientOutcome } from '../../driver.ts';
import { joinedHash, proofOf, tokenOf } from '../../proof.ts';
import { ClientConnection } from '../../transport/client-connection.ts';
import { fingerprintOf } from '../../transport/tls-hello.ts';
import { type Answer, readAnswer } from '../read-answer.ts';
import { type Asked, answerParts } from './http-answer.ts';
import { answerChanges, isHarmless, withoutCoding } from './http-changes.ts';
import { answerHash, exactBytes, markerHeader, pairsOf, requestHash, statusIn, writeMessage } from './http-form.ts';
import { hostIn, hostOf, serverNamed } from './http-names.ts';
import { type HttpMessage, headerIn } from './http-reader.ts';
import { askHttp2 } from './http2-client.ts';
import { plainHeaders, requestProblem } from './http2-form.ts';

type Step = HttpExchange['steps'][number];

const excerptBytes = 2048;
const maxChanges = 16;

const framing = /^(connection|content-length|transfer-encoding|upgrade|expect)$/i;

/** Requests with their own framing headers may desynchronise the connection and are not sent on reused ones. */
const isPlain = ({ request: { version, headers, exact } }: Step): boolean =>
  version === '1.1' && exact !== true && !headers.some(({ name }) => framing.test(name.trim()));

const withMarker = (headers: Step['request']['headers'], token: string, { marker }: ClientContext) =>
  marker ? [...headers, { name: 'X-Traffic-Test', value: token }] : headers;

const requestOf = (step: Step, body: Buffer, token: string, route: AttackRoute, context: ClientContext): Buffer => {
  const { method, path, version, headers, chunked = false, exact = false } = step.request;
  if (exact) return exactBytes(`${method} ${path} HTTP/${version}`, withMarker(headers, token, context), body);
  const cookies = context.cookies?.headerFor(hostOf(route));
  const connection = context.keepAlive && isPlain(step) ? 'keep-alive' : 'close';
  const hasLength = body.length > 0 || chunked || /^(POST|PUT|PATCH)$/i.test(method);
  const added = [
    { name: 'Host', value: hostOf(route) },
    ...(context.marker ? [{ name: 'X-Traffic-Test', value: token }] : []),
    ...(cookies === undefined ? [] : [{ name: 'Cookie', value: cookies }]),
    ...(version === '1.1' ? [{ name: 'Connection', value: connection }] : []),
  ];
  const written = { startLine: `${method} ${path} HTTP/${version}`, headers, body, isChunked: chunked, added };
  const bytes = writeMessage(written);
  return hasLength ? bytes : Buffer.from(bytes.toString('latin1').replace('Content-Length: 0\r\n', ''), 'latin1');
};

interface StepResults {
  sent: string[];
  received: string[];
  status: number;
  isComplete: boolean;
  isOurs: boolean;
  isAnswered: boolean;
  isKept: boolean;
  excerpt: Buffer | undefined;
  changes: MessageChange[];
}

const isOurAnswer = (answer: Pick<HttpMessage, 'headers'>, token: string, context: ClientContext): boolean =>
  headerIn(answer, markerHeader) === `${token};${proofOf(context.proofKey, token)}`;

interface Came extends Pick<HttpMessage, 'startLine' | 'headers' | 'body'> {
  readonly status: number;
}

/** Compares an answer with the one our server gives. */
const judgeAnswer = (results: StepResults, { answer: expected }: Step, received: Came, asked: Asked): void => {
  const { body, coding } = withoutCoding(expected, received.headers, received.body);
  const seen = { ...received, body };
  const hash = answerHash(expected, seen);
  const { hash: wanted, body: wantedBody } = answerParts(expected, asked);
  results.received.push(hash);
  results.status = received.status;
  results.isOurs = isOurAnswer(received, asked.token, asked.context as ClientContext) || hash === wanted;
  if (results.isOurs) results.changes.push(...answerChanges({ answer: expected, body: wantedBody }, seen, coding));
  if (results.isOurs && hash === wanted) return;
  const call = received.headers.filter(([name]) => /^grpc-(status|message)$/.test(name));
  const fields = call.map(([name, value]) => `${name}: ${value}\n`).join('');
  results.excerpt = Buffer.from(
    `${received.startLine}\n${fields}${received.body.toString('latin1', 0, excerptBytes)}`,
    'latin1',
  );
};

/** Runs a step over HTTP/2, on a new connection. */
const takeHttp2Step = async (
  { attempt, route, context, results }: Omit<Work, 'connection'>,
  step: Step,
  index: number,
) => {
  const token = tokenOf(context.runToken, attempt.id, index, context.isBare);
  const { method, path, headers } = step.request;
  const problem = requestProblem({ method, path }, headers);
  if (problem !== undefined) throw new Error(problem);
  const body = step.request.body === undefined ? Buffer.alloc(0) : context.bytesOf(step.request.body);
  const line = `${method} ${path}`;
  const host = hostIn(step);
  const cookies = context.cookies?.headerFor(hostOf(route));
  results.sent.push(requestHash(step.request, { line, headers: pairsOf(headers), body }));
  const outcome = await askHttp2(
    {
      headers: {
        ...{ ':method': method, ':path': path, ':scheme': route.isTls ? 'https' : 'http' },
        ':authority': host ?? hostOf(route),
        ...(context.marker && { [markerHeader]: token }),
        ...(cookies !== undefined && { cookie: cookies }),
        ...plainHeaders(headers),
      },
      body,
    },
    route,
    context,
  );
  const { answer } = outcome;
  results.isComplete = outcome.isComplete;
  results.isAnswered = answer !== undefined;
  if (answer !== undefined) {
    context.cookies?.put(hostOf(route), answer.headers);
    const received = { ...answer, startLine: `HTTP/2 ${answer.status}` };
    judgeAnswer(results, step, received, { token, request: { body, line }, context });
  }
  return {
    connection: { ...outcome, sentBytes: outcome.isComplete ? body.length + line.length : 0 },
    continues: results.isOurs,
  };
};

/** Runs one step; false when the attempt cannot continue. */
const takeStep = async (
  { connection, attempt, route, context, results }: Work,
  step: Step,
  index: number,
): Promise<boolean> => {
  const token = tokenOf(context.runToken, attempt.id, index, context.isBare);
  const body = step.request.body === undefined ? Buffer.alloc(0) : context.bytesOf(step.request.body);
  const { segmentBytes, gapMs } = attempt.exchange as HttpExchange;
  const bytes = requestOf(step, body, token, route, context);
  const line = `${step.request.method} ${step.request.path}`;
  results.sent.push(requestHash(step.request, { line, headers: pairsOf(step.request.headers), body }));
  const cut = { ...(segmentBytes !== undefined && { segmentBytes }), ...(gapMs !== undefined && { gapMs }) };
  results.isComplete = await connection.write(bytes, cut);
  const isOurs = (received: Answer) => isOurAnswer(received, token, context);
  const answer = await readAnswer(connection, step.request.method, isOurs);
  results.isAnswered = answer !== undefined;
  results.isOurs = false;
  results.isKept = false;
  if (answer === undefined) return false;
  context.cookies?.put(hostOf(route), answer.headers);
  judgeAnswer(results, step, { ...answer, status: statusIn(answer) }, { token, request: { body, line }, context });
  results.isKept = context.keepAlive && results.isOurs && answer.isKept && isPlain(step);
  return results.isOurs;
};

interface Work {
  readonly attempt: Attempt;
  readonly route: AttackRoute;
  readonly context: ClientContext;
  readonly results: StepResults;
  readonly connection: ClientConnection;
}

/** Runs a step on a pooled connection, or on a new one when there is none or the peer had closed it. */
const sendStep = async (work: Omit<Work, 'connection'>, step: Step, index: number) => {
  const { context, results } = work;
  const route = { ...work.route, ...serverNamed(hostIn(step) ?? context.proofHost) };
  if (step.request.version === '2') return takeHttp2Step({ ...work, route }, step, index);
  const pool = context.keepAlive && isPlain(step) ? context.pool.take(route) : undefined;
  const on = async (connection: ClientConnection) => {
    connection.begin();
    results.isComplete = false;
    results.isAnswered = false;
    results.isOurs = false;
    const continues = connection.isOpen && (await takeStep({ ...work, route, connection }, step, index));
    if (results.isKept && continues) context.pool.give(route, connection);
    else connection.close();
    return { connection, continues };
  };
  if (pool === undefined) return on(await ClientConnection.open(route, context));
  const first = await on(pool);
  if (results.isAnswered || pool.end === 'timeout' || pool.rxBytes > 0) return first;
  results.sent.pop();
  return on(await ClientConnection.open(route, context));
};

/** A device's reaction to one step must not affect the next: only connections without errors are reused. */
export const attemptHttp = async (
  attempt: Attempt,
  route: AttackRoute,
  context: ClientContext,
): Promise<ClientOutcome> => {
  const { steps } = attempt.exchange as HttpExchange;
  const results: StepResults = {
    ...{ sent: [], received: [], changes: [], status: 0, excerpt: undefined },
    ...{ isComplete: false, isOurs: false, isAnswered: false, isKept: false },
  };
  let sentBytes = 0;
  let rxBytes = 0;
  let last: Sides | undefined;
  for (const [index, step] of steps.entries()) {
    if (step.delayMs !== undefined) await sleep(step.delayMs, undefined, { signal: context.signal }).catch(() => {});
    const { connection, continues } = await sendStep({ attempt, route, context, results }, step, index);
    last = connection;
    sentBytes += connection.sentBytes;
    rxBytes += connection.rxBytes;
    if (!continues) break;
  }
  // That of a hello with a session is not known.
  const tls = last?.fullOffer && (await fingerprintOf(context.dialer, last.fullOffer));
  return { ...outcomeOf(last as Sides, results), sentBytes, rxBytes, ...(tls !== undefined && { tls }) };
};

/** Observations of a connection, independent of the protocol. */
type Sides = Pick<
  ClientConnection,
  'ip' | 'port' | 'connect' | 'end' | 'ttfbMs' | 'ownError' | 'sentBytes' | 'rxBytes' | 'fullOffer'
>;

const outcomeOf = ({ ip, port, connect, end, ttfbMs, ownError }: Sides, results: StepResults) => ({
  ...{ ip, port, connect, ttfbMs },
  isComplete: results.isComplete,
  sentSha256: joinedHash(results.sent),
  end: results.isAnswered ? ('response' as const) : end,
  status: results.status,
  rxSha256: joinedHash(results.received),
  responseIsOurs: results.isOurs,
  ...(results.changes.length > 0 && {
    changes: results.changes.slice(0, maxChanges),
    isAltered: results.isOurs && isHarmless(results.changes),
  }),
  ...(ownError !== undefined && { error: ownError }),
  ...(results.excerpt !== undefined && { excerpt: results.excerpt.toString('base64') }),
});
