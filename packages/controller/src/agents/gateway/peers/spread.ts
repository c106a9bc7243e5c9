import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type { Presence } from './presence.ts';

/** How much work a controller has. */
export interface ControllerLoad {
  /** Agents that are connected to it. */
  readonly agents: number;
  /** Share of the time in which its main thread works, 0 to 1. */
  readonly busyShare: number;
}

/** Differences of so many agents, or of this share of the mean, are left alone. */
const fewAgents = 8;
const tolerance = 0.2;
/** So busy is a controller that is overloaded, and so idle must another be to help. */
const overloaded = 0.85;
const idle = 0.6;
/** Share of its agents that an overloaded controller asks at a time. */
const relief = 0.1;
/** Agents asked at a time: connecting anew costs both sides. */
const maxAtOnce = 200;
/** Those that were asked have connected again by then, and are counted where they are. */
const pauseMs = 30_000;
/** An agent that came back although it was asked has nowhere else to go. */
const askAgainMs = 3_600_000;

/** How many agents a controller asks to connect elsewhere, because it has far more of them or more work than the others. */
export const agentsToMove = (own: ControllerLoad, others: readonly ControllerLoad[]): number => {
  if (others.length === 0) return 0;
  const mean = (own.agents + others.reduce((sum, { agents }) => sum + agents, 0)) / (others.length + 1);
  const excess = own.agents - mean;
  if (excess > Math.max(fewAgents, mean * tolerance)) return Math.min(maxAtOnce, Math.floor(excess));
  const canHelp = others.some(({ busyShare }) => busyShare < idle);
  return own.busyShare > overloaded && canHelp ? Math.min(maxAtOnce, Math.ceil(own.agents * relief)) : 0;
};

/** Measures the load of this controller, and chooses agents that connect elsewhere; agents in runs stay. */
export const createSpread = () => {
  const askedAt = new Map<number, number>();
  let pausedUntil = 0;
  let before: EventLoopUtilization = performance.eventLoopUtilization();
  let own: ControllerLoad = { agents: 0, busyShare: 0 };
  return {
    /** Since the last call. */
    measure: (agents: number): ControllerLoad => {
      const now = performance.eventLoopUtilization();
      own = { agents, busyShare: performance.eventLoopUtilization(now, before).utilization };
      before = now;
      return own;
    },
    choose: (present: Iterable<Presence>, others: readonly ControllerLoad[], now: number): number[] => {
      const count = now < pausedUntil ? 0 : agentsToMove(own, others);
      if (count === 0) return [];
      for (const [id, at] of askedAt) if (now - at > askAgainMs) askedAt.delete(id);
      const chosen = [...present]
        .filter((it) => it.connection?.isOpen && !it.isBusy && !it.isUpgrading && !askedAt.has(it.agentId))
        .slice(0, count)
        .map(({ agentId }) => agentId);
      for (const id of chosen) askedAt.set(id, now);
      pausedUntil = now + pauseMs;
      return chosen;
    },
  };
};
