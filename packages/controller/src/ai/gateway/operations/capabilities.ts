import { agentStatus, aiActions, api, plugins, type Route, runStatus, verdicts } from '@rushhour/contract';
import type { AiKeyFacts } from '../../../caller.ts';
import { fromStatus } from '../../approvals/approval-tasks.ts';
import { type AiRules, modeFor } from '../../keys/policy.ts';
import { isOpenTo } from '../../keys/scopes.ts';

/** Every operation of the gateway, and whether the key may use it. */
export const operationList = (key: AiKeyFacts) =>
  (Object.entries(api.aiGateway.routes) as [string, Route][]).flatMap(([name, { method, path, ai }]) =>
    ai === undefined
      ? []
      : [
          {
            ...{ operationId: `aiGateway.${name}`, method, path: `/v1${path.replace(/:(\w+)/g, '{$1}')}` },
            ...{ scope: ai.scope, risk: ai.risk, allowed: isOpenTo(key, ai), tool: ai.tool },
          },
        ],
  );

const riskOf = (action: string) => {
  if (action === 'delete') return 'R3' as const;
  return action === 'stop' || action === 'pause' ? ('RS' as const) : ('R2' as const);
};

/** The actions with their minimum risk; the content of a task may raise it. */
export const actionList = (key: AiKeyFacts, rules: AiRules) =>
  (['start', ...aiActions] as const).map((action) => {
    const risk = riskOf(action);
    return { action, fromStatus: [...fromStatus[action]], risk, policyForThisKey: modeFor(risk, key.policy, rules) };
  });

const byNumber = (names: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(names).map(([name, value]) => [value, name]));

export const enumList = () => ({
  taskStatus: byNumber(runStatus),
  agentStatus: byNumber(agentStatus),
  verdict: byNumber(verdicts),
  plugins: Object.fromEntries(plugins.map(({ id, name }) => [id, name])),
});
