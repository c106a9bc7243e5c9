import { type api, permissions } from '@rushhour/contract';
import { ApiError, unauthenticated } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import type { Store } from '../../store/store.ts';
import { build, commitOf } from '../build.ts';
import type { Health } from '../health.ts';

const features = ['openapi', 'sse', 'idempotency', 'audit'];

export const metaHandlers = ({ store, health }: { store: Store; health: Health }): Handlers<typeof api.meta> => ({
  health: async ({ query }, visitor) => {
    if (query.deep && (await visitor.caller()) === undefined) throw unauthenticated('UNAUTHENTICATED', 'sign in first');
    const checks = await health.checks();
    const status = Object.values(checks).every((check) => check === 'ok') ? ('ok' as const) : ('degraded' as const);
    if (!health.isReady() || checks.db === 'failed') {
      throw new ApiError('unavailable', 'NOT_READY', 'the controller is not ready', {
        status,
        checks,
        retryAfterSec: 1,
      });
    }
    const now = new Date();
    const brief = { status, now: now.toISOString(), uptimeSec: (now.getTime() - health.startedAt) / 1000, checks };
    if (!query.deep) return { data: brief };
    return {
      data: { ...brief, diskFreeBytes: await health.diskFreeBytes(), queues: {}, agentsOnline: health.agentsOnline() },
    };
  },
  version: () => ({
    data: {
      ...build,
      apiVersion: '1.0',
      commit: commitOf(),
      node: process.version,
      schemaVersion: store.schemaVersion,
      features,
    },
  }),
  permissions: () => permissions,
});
