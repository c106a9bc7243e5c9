import type { StatelessServerValues } from '@rushhour/contract';
import type { StatelessServerConfig } from '@rushhour/protocol';
import { payloadAt } from '../../content/payloads.ts';
import type { PlanScope } from '../../core/plan-scope.ts';
import type { Traffic } from '../../core/traffic.ts';

/** Answers whatever arrives; it has no client. */
export const planStatelessServer = (scope: PlanScope): Traffic => {
  const values = scope.leaf.values as unknown as StatelessServerValues;
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
    usualPorts: ports ?? '15007',
    server: () => ({ config }),
  };
};
