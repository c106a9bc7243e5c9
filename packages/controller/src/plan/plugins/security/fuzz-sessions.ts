import type { CveSignature, FuzzingValues } from '@rushhour/contract';
import type { BaselineSession } from '../../../security/fuzzing/recorded-session.ts';
import { renderSignature } from '../../../security/signatures/expressions/render.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { dictionaryValues } from '../payloads.ts';

type Params = FuzzingValues['fuzzingParams'];
type Request = NonNullable<Params['baseline']['request']>;

/** The sessions that cases change; undefined, with an issue, when they cannot be read. */
export const sessionsOf = (scope: PlanScope, { baseline }: Params): readonly BaselineSession[] | undefined => {
  const path = pointerIn(scope, 'fuzzingParams', 'baseline');
  const { kind, id, request } = baseline;
  if (kind === 'signature') {
    const signature = scope.input.signatures.get(id ?? 0);
    if (signature === undefined)
      return scope.issues.error(`${path}/id`, 'SIGNATURE_UNKNOWN', `there is no signature ${id}`);
    return renderedSession(scope, signature, path);
  }
  if (kind !== 'request') return recordedSessions(scope, kind, id);
  if (request === undefined) return scope.issues.error(`${path}/request`, 'REQUIRED', 'is required');
  const content = {
    requests: [requestOf(request)],
    responses: [],
    variables: {},
    payloads: [],
    combine: 'batteringram',
    maxAttempts: 1,
  } as const;
  return renderedSession(scope, content as never, path);
};

/** Of an application, a capture or a HAR. */
const recordedSessions = (scope: PlanScope, kind: string, id: number | undefined) => {
  const path = pointerIn(scope, 'fuzzingParams', 'baseline', 'id');
  const isKnown = kind === 'application' ? scope.input.applications.byId.has(id ?? 0) : scope.input.files.has(id ?? 0);
  if (!isKnown) return scope.issues.error(path, 'BASELINE_UNKNOWN', `there is no ${kind} ${id ?? ''}`.trim());
  const found = scope.input.baselines.get(scope.entry.path);
  if (found === undefined) return scope.issues.error(path, 'FILE_NOT_READY', 'its file is not complete');
  if ('problem' in found) return scope.issues.error(path, found.problem.code, found.problem.message);
  if (found.leftOut.length > 0)
    scope.issues.caveat(path, 'BASELINE_CUT', `not sent: ${found.leftOut.slice(0, 10).join('; ')}`);
  if (found.sessions.length > 0) return found.sessions;
  return scope.issues.error(path, 'BASELINE_EMPTY', `holds no session that can be sent by this protocol`);
};

/** All requests of a signature, in order; its first form where it has several. */
const renderedSession = (
  scope: PlanScope,
  signature: CveSignature,
  path: string,
): readonly BaselineSession[] | undefined => {
  try {
    const target = { host: 'server.test', port: 80, isTls: false };
    const dictionary = (id: number) => dictionaryValues(scope, id, path) ?? [];
    const [first] = renderSignature(signature, { seed: '1', target, dictionary, limit: 1 });
    return first && [{ index: 0, requests: first.requests, responses: [] }];
  } catch (error) {
    return scope.issues.error(path, 'BASELINE_INVALID', (error as Error).message);
  }
};

/** As a signature would say it; braces of people are no placeholders. */
const requestOf = (request: Request): CveSignature['requests'][number] => {
  const plain = (text: string) => text.replaceAll('{{', '{{"{{"}}');
  const { delayMs, waitResponse } = request;
  if (request.kind === 'raw') {
    return {
      idx: 0,
      kind: 'raw',
      transport: request.transport,
      data: request.encoding === 'text' ? plain(request.data ?? '') : (request.data ?? ''),
      encoding: request.encoding,
      tls: request.tls,
      delayMs,
      waitResponse,
    };
  }
  if (request.kind === 'dns')
    return { idx: 0, kind: 'dns', qname: plain(request.qname ?? 'server.test'), qtype: request.qtype };
  const headers = request.headers.map(({ name, value }) => ({ name, value: plain(value) }));
  return {
    idx: 0,
    kind: 'http',
    method: request.method ?? 'GET',
    path: plain(request.path ?? '/'),
    headers,
    body: request.bodyEncoding === 'text' ? plain(request.body ?? '') : (request.body ?? ''),
    bodyEncoding: request.bodyEncoding,
    delayMs,
  };
};
