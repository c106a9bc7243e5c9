import type { RunReport } from '@rushhour/protocol';

/** Seconds that a controller stored of a run that another one conducts. */
export interface StoredSeconds {
  readonly runId: number;
  readonly epoch: number;
  /** How many names of the run the sender knows. */
  readonly names: number;
  readonly parts: readonly StoredPart[];
}

/** Of one job. */
export interface StoredPart {
  readonly agentId: number;
  readonly order: number;
  /** How many seconds of the job are stored now: who knows of fewer has missed a message. */
  readonly count: number;
  /** Rows of packed seconds as the database has them, in base64. */
  readonly rows: readonly string[];
}

export interface MeasurementListener {
  /** An agent of this controller measured something in a run that another one conducts. */
  measured(agentId: number, report: Extract<RunReport, { type: 'summaries' }>): void;
  /** Another controller stored seconds of a run that this one conducts. */
  stored(seconds: StoredSeconds): void;
}

/** Measurements of runs that controllers share. */
export interface PeerRuns {
  /** This controller; new with every start. */
  readonly id: string;
  /** Whether there are other controllers. */
  readonly hasPeers: boolean;
  /** Whether another controller conducts the run, or none at the moment. */
  isElsewhere(runId: number): boolean;
  /** Informs the controller that conducts the run. False when the run is over. */
  publishStored(seconds: StoredSeconds): boolean;
  /** Call it once. */
  listen(listener: MeasurementListener): void;
}
