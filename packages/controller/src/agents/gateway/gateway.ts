import type { DumpState, HeldRun, Question, RunReport, ToAgent } from '@rushhour/protocol';

/** What an agent reports when it connects. */
export interface Arrival {
  /** New with every start of the agent process. */
  readonly bootId: string;
  readonly runs: readonly HeldRun[];
}

/** Events of agents. Called in order for each agent; must not throw. */
export interface AgentListener {
  /** A session is open; also after a short break of the connection. */
  connected?(agentId: number, arrival: Arrival): void;
  /** No heartbeat for a while; the connection may still be there. */
  suspect?(agentId: number): void;
  /** Heard again after `suspect`, in the same session. */
  back?(agentId: number): void;
  /** Silent for too long, blocked or removed. */
  lost?(agentId: number, reason: string): void;
  report?(agentId: number, report: RunReport): void;
  /** How far packet dumps on the agent are. */
  dumps?(agentId: number, dumps: readonly DumpState[]): void;
}

/** Agents as the rest of the controller sees them: numbers one can send to. */
export interface AgentGateway {
  isOnline(agentId: number): boolean;
  /** Whether the agent is connected to this controller. */
  isHere(agentId: number): boolean;
  /** As the agent last measured it; undefined when it is not there. */
  roundTripMs(agentId: number): number | undefined;
  /** False when the agent is not connected. What was sent may still be lost with the connection. */
  send(agentId: number, message: ToAgent): boolean;
  /** Asks and waits for the answer; throws `AgentUnreachable` when there is none in time, `AgentRefused` when it is no. */
  ask(agentId: number, question: Question, timeoutMs?: number): Promise<unknown>;
  /** Returns the function that ends the subscription. */
  subscribe(listener: AgentListener): () => void;
}

export class AgentUnreachable extends Error {}
export class AgentRefused extends Error {}
