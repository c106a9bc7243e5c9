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

/** The operations on agents that files need. */
export interface AgentFiles {
  /** Ids of existing agents: all, or those of the given ones that exist. */
  known(agents: 'all' | readonly number[]): Promise<number[]>;
  /** Starts sending files to existing agents; returns a job immediately. */
  push(push: Push): Promise<{ jobID: string; pairs: number; bytes: number }>;
  states(file: PushedFile, agentID: number | undefined): Promise<SyncState[]>;
}
