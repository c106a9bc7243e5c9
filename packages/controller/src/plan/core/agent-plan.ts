import type { Estimate, ValidationIssue } from '@rushhour/contract';
import type { Capture, Job, NeededFile } from '@rushhour/protocol';
import type { PlannedAttempts } from './attempt-files.ts';

/** One job of an agent, and what the controller must know about it while it runs. */
export interface PlannedJob {
  /** Index of the configuration entry it serves. */
  readonly entry: number;
  /** JSON pointer of the source or target in the task that it is for. */
  readonly path: string;
  /** Of the entry; within a suite, of the child. */
  readonly pluginId: number;
  /** Index in `accessPlane` or `controlPlane` of a job of a plane. */
  readonly planeEntry?: number;
  readonly role: 'client' | 'server';
  readonly engine: string;
  /** Where it sends to or listens, for people: `10.0.0.1:80`, or `10.0.0.1:80 and 3 more`. */
  readonly target: string;
  /** Its part of the load of the entry, above 0 and at most 1: a new rate is divided by it as the first was. */
  readonly share: number;
  readonly job: Omit<Job, 'runId' | 'epoch'>;
  /** Servers have nothing to pause: they count as able. */
  readonly canPause: boolean;
  readonly canChangeLoad: boolean;
}

/** What one agent does in a run. The index of a job in `jobs` is how messages name it. */
export interface AgentPlan {
  readonly agentId: number;
  readonly role: 'client' | 'server' | 'both';
  readonly jobs: readonly PlannedJob[];
  readonly files: readonly NeededFile[];
  readonly capture?: Capture;
  /** Of the networks it sends from: routers that must be there. */
  readonly gateways: readonly string[];
}

export interface RunPlan {
  readonly agents: readonly AgentPlan[];
  /** Seconds of traffic from the common start; null when it ends by count or by hand. */
  readonly plannedSec: number | null;
  /** Caveats for the reader of the result, such as options that sockets cannot honour. */
  readonly notes: readonly string[];
  /** A plan with an issue of severity `error` must not be started. */
  readonly issues: readonly ValidationIssue[];
  readonly estimate: Estimate;
  /** False when the load of a client is not known in advance, as without a rate: the estimate is too low. */
  readonly isLoadKnown: boolean;
  /** Of security tests: agents get them as files, and they are kept with the run. */
  readonly attempts: readonly PlannedAttempts[];
}
