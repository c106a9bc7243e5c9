import type { Summary, ToAgent } from '@rushhour/protocol';
import type { AgentGateway, AgentListener } from '../../agents/gateway/gateway.ts';

type Acknowledge = Extract<ToAgent, { type: 'acknowledge' }>;

/** A gateway whose agents are the test: it says what they report and keeps what is sent to them. */
export const createTestGateway = () => {
  const listeners = new Set<AgentListener>();
  const sent: { agentId: number; message: ToAgent }[] = [];
  const gateway: AgentGateway = {
    isOnline: () => true,
    isHere: () => true,
    roundTripMs: () => 1,
    send: (agentId, message) => sent.push({ agentId, message }) > 0,
    ask: async () => undefined,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return {
    gateway,
    sent,
    summaries: (
      agentId: number,
      { runId, epoch = 0, order = 0 }: { runId: number; epoch?: number; order?: number },
      summaries: Summary[],
    ) => {
      // As over the wire: what arrives is nobody else's object.
      const report = JSON.parse(JSON.stringify({ type: 'summaries', runId, epoch, order, summaries }));
      for (const listener of listeners) listener.report?.(agentId, report);
    },
    /** The last sequence number that was acknowledged for a job; undefined when none was. */
    acknowledged: (agentId: number, runId: number, jobIndex = 0): number | undefined =>
      sent
        .filter((one): one is { agentId: number; message: Acknowledge } => one.message.type === 'acknowledge')
        .findLast(({ agentId: to, message }) => to === agentId && message.runId === runId && message.order === jobIndex)
        ?.message.seq,
  };
};

export type TestGateway = ReturnType<typeof createTestGateway>;
