import { aiScopes } from '@rushhour/contract';
import type { AiCaller } from '../../caller.ts';

/** A call of a key with every right and no limit, made without HTTP. */
export const aiCaller = (idempotencyKey?: string): AiCaller => ({
  ...{ userId: 1, address: '127.0.0.1', requestId: 'test', operation: 'aiGateway.test', transport: 'rest' as const },
  ...{ refreshToken: undefined, lastEventId: undefined, signal: new AbortController().signal, idempotencyKey },
  permissions: new Set([1]),
  key: {
    ...{ id: 1, name: 'test', prefix: 'rh_ai_test', owner: { id: 1, realName: '' }, scopes: aiScopes },
    effectiveScopes: new Set(aiScopes),
    policy: {
      ...{ R1: 'auto', RS: 'auto', R2: 'same-key', R3: 'human', count: 1, preventSelfApproval: false },
      ...{ decisionSec: 86_400, version: 1 },
    },
    constraints: {
      ...{ maxConcurrentTasks: 1000, maxTaskDurationSec: 3600, maxPps: null, maxBps: null },
      ...{ allowMalware: false, allowCve: false, allowCompromisedHost: false },
    },
    limits: {
      ...{ requestsPerMin: 1e5, writesPerMin: 1e5, parallel: 1000, approvalsPerHour: 1e5, pendingApprovals: 1000 },
      ...{ startsPerDay: 1e6, agentSecondsPerDay: 1e12, bytesPerDay: null },
    },
    ...{ ipAllowlist: [], expiresAt: '2999-01-01T00:00:00.000Z' },
  },
  header: () => undefined,
  setHeader: () => {},
  setSession: () => {},
  caller: async () => undefined,
  remaining: () => ({}),
  noteAudit: () => {},
});
