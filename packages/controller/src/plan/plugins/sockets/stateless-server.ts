import { type StatelessServerValues, statelessServerPlugin } from '@rushhour/contract';
import type { StatelessServerConfig } from '@rushhour/protocol';
import type { Traffic } from '../../core/load/traffic.ts';
import type { PlanScope } from '../../core/plan-scope.ts';
import { planner } from '../../core/planner.ts';
import { payloadAt } from '../payloads.ts';

/** Answers whatever arrives; it has no client. */
const planStatelessServer = (scope: PlanScope, values: StatelessServerValues): Traffic => {
  const { protocol, mode, reply, delayMs, maxRate, ports } = values.statelessServerParams;
  const config: Omit<StatelessServerConfig, 'listen' | 'reply'> & { reply: object } = {
    role: 'server',
    protocol,
    mode,
    reply: payloadAt(scope, reply, 'statelessServerParams', 'reply').payload,
    delayMs,
    maxRate,
  };
  return {
    engine: 'stateless-server',
    transport: protocol,
    defaultPorts: ports ?? '15007',
    server: () => ({ config }),
  };
};

export const statelessServerPlanner = planner(statelessServerPlugin, planStatelessServer);
