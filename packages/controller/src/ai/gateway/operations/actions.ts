import { type AiAction, api } from '@rushhour/contract';
import { type TSchema, Type } from 'typebox';
import { invalid } from '../../../errors.ts';
import type { Handlers } from '../../../handler.ts';
import { createSchemaCheck } from '../../../schema-check.ts';
import type { Approvals } from '../../approvals/approvals.ts';

interface Deps {
  approvals: Approvals;
}

const closed = { additionalProperties: false } as const;
const nothing = Type.Object({}, closed);
const changes = api.tasks.routes.changeLoad.body.properties.changes as unknown as TSchema;

const paramsOf: Record<AiAction, TSchema> = {
  stop: Type.Object({ mode: Type.Optional(Type.Unsafe({ type: 'string', enum: ['graceful', 'abort'] })) }, closed),
  pause: nothing,
  resume: nothing,
  restart: nothing,
  'set-rate': Type.Object({ changes: Type.Unsafe({ ...changes, minItems: 1 }) }, closed),
  delete: nothing,
};
const checks = Object.fromEntries(
  Object.entries(paramsOf).map(([action, schema]) => [action, createSchemaCheck(schema)]),
) as Record<AiAction, ReturnType<typeof createSchemaCheck>>;

export const actionHandlers = ({ approvals }: Deps): Pick<Handlers<typeof api.aiGateway>, 'act' | 'confirmAct'> => ({
  act: async ({ body: { action, taskIds, params = {}, reason } }, caller) => {
    const issues = checks[action](params, '/params');
    if (issues.length > 0) throw invalid(issues);
    const { idempotencyKey } = caller;
    return approvals.request(caller, { action, taskIds, params, reason, idempotencyKey });
  },
  confirmAct: async ({ body: { approvalToken } }, caller) => {
    const { idempotencyKey } = caller;
    const { cursor, data } = await approvals.confirm(caller, { family: 'actions', approvalToken, idempotencyKey });
    return { cursor, data: data as typeof data & { results: Record<string, unknown>[] } };
  },
});
