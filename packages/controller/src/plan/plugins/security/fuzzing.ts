import { type CveSignature, type FuzzingValues, fuzzingPlugin } from '@rushhour/contract';
import type { Attempt } from '@rushhour/protocol';
import { type FuzzRules, fuzzCase, type PayloadPosition } from '../../../security/fuzzing/fuzz-case.ts';
import { type RenderedRequest, renderSignature } from '../../../security/signatures/expressions/render.ts';
import type { Detection } from '../../core/attempt-files.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { endsByItself, planner } from '../../core/planner.ts';
import type { Traffic } from '../../core/traffic.ts';
import { dictionaryValues } from '../payloads.ts';
import { type AttackService, planAttack } from './attack.ts';
import { exchangeWith, partsOf } from './fuzz-baseline.ts';

type Params = FuzzingValues['fuzzingParams'];

const defaultPort = 18_085;
const maxCases = 50_000;
const fallback: RenderedRequest = {
  kind: 'http',
  method: 'GET',
  path: '/?id=1',
  version: '1.1',
  headers: [],
  body: Buffer.alloc(0),
  exact: false,
  delayMs: 0,
  waitResponse: true,
};

/** A year: longer than any run. */
const noLimitMs = 31_536_000_000;

/** Changed requests, each determined by seed and number, and what they do to the target. */
const planFuzzing = (scope: PlanScope, { fuzzingParams: params }: FuzzingValues): Traffic => {
  const baseline = baselineOf(scope, params) ?? fallback;
  const service = serviceOf(baseline, params);
  const { health } = params;
  if (health.probe !== undefined) {
    const message = 'the probe is always the harmless exchange that proves the path';
    scope.issues.caveat(pointerIn(scope, 'fuzzingParams', 'health', 'probe'), 'NOT_SUPPORTED', message);
  }
  if (!params.stopOn.includes('count')) {
    const message = 'every case is made before the run, so that their number always ends it';
    scope.issues.error(pointerIn(scope, 'fuzzingParams', 'stopOn'), 'NOT_SUPPORTED', message);
  }
  return planAttack(scope, {
    engine: 'fuzzing',
    attempts: casesOf(scope, params, { baseline, service: service.service }),
    services: [service],
    tls: { versions: ['1.2', '1.3'], alpn: [], verify: false, resumption: 'none', closeNotify: true },
    ratePerSecond: params.casesPerSecond,
    concurrency: 1,
    timeoutMs: params.timeoutMs,
    detection: detectionOf(params),
    detectionMember: 'fuzzingParams',
    fuzz: {
      recoveryMs: health.recoverySeconds * 1000,
      maxMs: params.stopOn.includes('time') ? params.maxSeconds * 1000 : noLimitMs,
      minimise: params.minimise,
      stopOnHealth: params.stopOn.includes('health'),
    },
  });
};

const detectionOf = ({ health, timeoutMs }: Params): Detection => ({
  blockStatus: [400, 403, 406],
  passStatus: [200],
  resetIsBlock: true,
  timeoutIsBlock: true,
  partialIsBlock: true,
  modifiedIs: 'own',
  control: {
    everyAttempts: health.everyCases,
    afterSilentDrop: true,
    recoverySeconds: 0,
    retries: health.maxFailures - 1,
    timeoutMs,
  },
});

const serviceOf = (baseline: RenderedRequest, { protocol }: Params): AttackService => ({
  service: baseline.kind,
  protocol: baseline.kind,
  transport: baseline.kind === 'dns' || (baseline.kind === 'raw' && baseline.transport === 'udp') ? 'udp' : 'tcp',
  isTls: protocol === 'tls' || (baseline.kind === 'raw' && baseline.tls),
  port: defaultPort,
});

/** The request that cases change; undefined, with an issue, when it cannot be read. */
const baselineOf = (scope: PlanScope, { baseline }: Params): RenderedRequest | undefined => {
  const path = pointerIn(scope, 'fuzzingParams', 'baseline');
  const { kind, id, request } = baseline;
  if (kind === 'signature') {
    const signature = scope.input.signatures.get(id ?? 0);
    if (signature === undefined)
      return scope.issues.error(`${path}/id`, 'SIGNATURE_UNKNOWN', `there is no signature ${id}`);
    return firstRequest(scope, signature, path);
  }
  if (kind !== 'request')
    return scope.issues.error(
      `${path}/kind`,
      'NOT_SUPPORTED',
      `${kind} cannot be changed yet: give the request itself`,
    );
  if (request === undefined) return scope.issues.error(`${path}/request`, 'REQUIRED', 'is required');
  const content = {
    requests: [requestOf(request)],
    responses: [],
    variables: {},
    payloads: [],
    combine: 'batteringram',
    maxAttempts: 1,
  } as const;
  return firstRequest(scope, content as never, path);
};

const firstRequest = (scope: PlanScope, signature: CveSignature, path: string): RenderedRequest | undefined => {
  try {
    const target = { host: 'server.test', port: 80, isTls: false };
    const dictionary = (id: number) => dictionaryValues(scope, id, path) ?? [];
    return renderSignature(signature, { seed: '1', target, dictionary, limit: 1 })[0]?.requests[0];
  } catch (error) {
    return scope.issues.error(path, 'BASELINE_INVALID', (error as Error).message);
  }
};

/** As a signature would say it; braces of people are no placeholders. */
const requestOf = (request: NonNullable<Params['baseline']['request']>): CveSignature['requests'][number] => {
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
  };
};

const casesOf = (
  scope: PlanScope,
  params: Params,
  { baseline, service }: { baseline: RenderedRequest; service: string },
): Omit<Attempt, 'id'>[] => {
  const parts = partsOf(baseline, params.targets);
  if (parts.length === 0) {
    scope.issues.error(pointerIn(scope, 'fuzzingParams', 'targets'), 'NO_PART', 'the request has no such part');
    return [];
  }
  if (params.maxCases > maxCases) {
    const message = `at most ${maxCases} cases can be planned at once: another seed makes others`;
    scope.issues.error(pointerIn(scope, 'fuzzingParams', 'maxCases'), 'TOO_MANY_CASES', message);
    return [];
  }
  const own = params.payloads.dictionaryIds.flatMap(
    (id, i) => dictionaryValues(scope, id, pointerIn(scope, 'fuzzingParams', 'payloads', 'dictionaryIds', i)) ?? [],
  );
  const rules: FuzzRules = {
    seed: params.seed,
    mutators: params.mutators,
    words: [...params.payloads.values, ...own],
    position: params.place as PayloadPosition,
    isMultiple: params.mode === 'multiple',
  };
  return Array.from({ length: params.maxCases }, (_, number): Omit<Attempt, 'id'> => {
    const { changed, changes } = fuzzCase(parts, rules, number);
    return {
      kind: 'fuzz',
      refId: params.baseline.kind === 'signature' ? (params.baseline.id ?? 0) : 0,
      refName: `case ${number} of seed ${params.seed}`,
      variant: changes.join(', ').slice(0, 256),
      category: 'fuzzing',
      expected: 'allow',
      severity: 'info',
      techniques: [],
      direction: 'c2s',
      service,
      exchange: exchangeWith(baseline, changed),
    };
  });
};

export const fuzzingPlanner = planner(fuzzingPlugin, planFuzzing, { durationOf: endsByItself });
