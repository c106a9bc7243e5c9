export interface SyncState {
  readonly agentID: number;
  readonly agentName: string;
  readonly state: 'pending' | 'syncing' | 'synced' | 'stale' | 'failed' | 'absent';
  readonly bytes: number;
  readonly sha256: string;
  readonly updatedAt: string | null;
  readonly error: string;
}

export interface PushedFile {
  readonly id: number;
  readonly sha256: string;
  readonly size: number;
}

export interface Push {
  readonly files: readonly PushedFile[];
  readonly agents: readonly number[];
  readonly verify: boolean;
}

/** The agents, as far as files need to know them. */
export interface AgentFiles {
  /** Ids of the agents that are known: all of them, or those out of the ones given. */
  known(agents: 'all' | readonly number[]): Promise<number[]>;
  /** Begins to send files to agents that are known; answers a job at once. */
  push(push: Push): Promise<{ jobID: string; pairs: number; bytes: number }>;
  states(file: PushedFile, agentID: number | undefined): Promise<SyncState[]>;
}
