import type { Question, RunReport, ToAgent } from '@rushhour/protocol';
import { type AgentGateway, type AgentListener, AgentUnreachable } from '../../agents/gateway/gateway.ts';
import { type Script, ScriptedAgent } from './scripted-agent.ts';

/** A gateway whose agents live in this process and do what tests tell them. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table of actions for tests
export const scriptedGateway = (secondMs: number) => {
  const listeners = new Set<AgentListener>();
  const agents = new Map<number, ScriptedAgent>();
  const agentOf = (id: number) => agents.get(id) as ScriptedAgent;
  const hear = (id: number) => (report: RunReport) => {
    for (const listener of listeners) listener.report?.(id, report);
  };
  const gateway: AgentGateway = {
    isOnline: (id) => agents.get(id)?.isOnline === true,
    isHere: (id) => agents.get(id)?.isOnline === true,
    roundTripMs: (id) => (agents.get(id)?.isOnline ? 1 : undefined),
    send: (id, message: ToAgent) => {
      const agent = agents.get(id);
      if (agent?.isOnline !== true) return false;
      if ('runId' in message && message.type !== 'forgetDump') queueMicrotask(() => agent.obey(message));
      return true;
    },
    ask: async (id, question: Question) => {
      const agent = agents.get(id);
      if (agent?.isOnline !== true) throw new AgentUnreachable(`agent ${id} is not there`);
      if (question.kind === 'reset') {
        agent.close();
        agent.resets += 1;
      }
      return {};
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };

  return {
    gateway,
    agentOf,
    add: (id: number, script: Script = {}) => {
      const agent = new ScriptedAgent(id, secondMs, script);
      agent.report = hear(id);
      agents.set(id, agent);
      return agent;
    },
    disconnect: (id: number) => {
      agentOf(id).isOnline = false;
    },
    connect: (id: number) => {
      const agent = agentOf(id);
      agent.isOnline = true;
      for (const listener of listeners) listener.connected?.(id, { bootId: agent.bootId, runs: agent.held });
      agent.replay();
    },
    suspect: (id: number) => {
      for (const listener of listeners) listener.suspect?.(id);
    },
    back: (id: number) => {
      for (const listener of listeners) listener.back?.(id);
    },
    lose: (id: number, reason = 'silent for too long') => {
      agentOf(id).isOnline = false;
      for (const listener of listeners) listener.lost?.(id, reason);
    },
    say: (id: number, report: RunReport) => hear(id)(report),
    close: () => {
      for (const agent of agents.values()) agent.close();
    },
  };
};

export type ScriptedGateway = ReturnType<typeof scriptedGateway>;
