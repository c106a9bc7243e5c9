import { type FuzzingValues, fuzzingPlugin } from '@rushhour/contract';
import type { RenderedRequest } from '../../../security/signatures/expressions/render.ts';
import type { Detection } from '../../core/attempt-files.ts';
import type { Traffic } from '../../core/load/traffic.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { endsByItself, planner } from '../../core/planner.ts';
import { type AttackService, planAttack } from './attack.ts';
import { casesOf } from './fuzz-cases.ts';
import { sessionsOf } from './fuzz-sessions.ts';

type Params = FuzzingValues['fuzzingParams'];

const defaultPort = 18_085;
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
  const sessions = sessionsOf(scope, params);
  const first = sessions?.[0]?.requests[0] ?? fallback;
  const service = serviceOf(first, params);
  if (sessions !== undefined) reportMismatch(scope, params, first);
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
    attempts: casesOf(scope, params, { sessions: sessions ?? [], service: service.service }),
    services: [service],
    tls: { versions: ['1.2', '1.3'], alpn: [], verify: false, resumption: 'none', closeNotify: true },
    ratePerSecond: params.casesPerSecond,
    concurrency: 1,
    keepAlive: !params.connectionPerCase,
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

/** Protocols that carry messages of each kind. */
const carriers: Readonly<Record<RenderedRequest['kind'], readonly string[]>> = {
  http: ['http', 'tls'],
  raw: ['tcp', 'tls', 'smtp', 'ftp'],
  dns: ['dns'],
};

/** Refuses what would be sent otherwise than the members say. */
const reportMismatch = (scope: PlanScope, { protocol, connectionPerCase }: Params, first: RenderedRequest): void => {
  const isDatagram = first.kind === 'raw' && first.transport === 'udp';
  const fitting = isDatagram ? ['udp', 'dns'] : carriers[first.kind];
  if (!fitting.includes(protocol)) {
    const message = `the baseline is ${isDatagram ? 'sent by UDP' : first.kind}: protocol is ${fitting.join(' or ')}`;
    scope.issues.error(pointerIn(scope, 'fuzzingParams', 'protocol'), 'PROTOCOL_MISMATCH', message);
  }
  if (connectionPerCase || first.kind === 'http') return;
  const message = 'cases of HTTP share connections; in other protocols their bytes could not be told apart';
  scope.issues.error(pointerIn(scope, 'fuzzingParams', 'connectionPerCase'), 'NOT_SUPPORTED', message);
};

const detectionOf = ({ health, timeoutMs, record }: Params): Detection => ({
  record,
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

export const fuzzingPlanner = planner(fuzzingPlugin, planFuzzing, { durationOf: endsByItself });
