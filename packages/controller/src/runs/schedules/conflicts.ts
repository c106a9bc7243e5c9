/** A period in which agents are in use; a run without a planned end counts as `unknownMs`. */
export interface AgentBooking {
  readonly taskId: number;
  readonly agentIds: readonly number[];
  /** Starts, milliseconds since 1970. */
  readonly starts: readonly number[];
  readonly lengthMs: number;
}

export interface Conflict {
  readonly taskID: number;
  readonly agentID: number;
  readonly at: string;
}

/** Assumed length of a run that ends by count or by hand. */
export const unknownMs = 3_600_000;
/** Gap that agents need between two runs. */
const betweenMs = 10_000;
const maxConflicts = 100;

/** Overlapping use of the same agents; `at` is the start of the later one. */
export const conflictsOf = (own: AgentBooking, others: readonly AgentBooking[]): Conflict[] => {
  const found: Conflict[] = [];
  for (const other of others) {
    const shared = other.taskId === own.taskId ? [] : own.agentIds.filter((id) => other.agentIds.includes(id));
    if (shared.length === 0) continue;
    for (const at of overlapsOf(own, other)) {
      for (const agentID of shared) {
        found.push({ taskID: other.taskId, agentID, at: new Date(at).toISOString() });
        if (found.length === maxConflicts) return found;
      }
    }
  }
  return found;
};

/** Both lists are sorted, so one pass is enough. */
const overlapsOf = (a: AgentBooking, b: AgentBooking): number[] => {
  const found: number[] = [];
  let first = 0;
  for (const start of a.starts) {
    while (first < b.starts.length && (b.starts[first] as number) + b.lengthMs + betweenMs <= start) first += 1;
    for (let i = first; i < b.starts.length && (b.starts[i] as number) < start + a.lengthMs + betweenMs; i += 1) {
      found.push(Math.max(start, b.starts[i] as number));
    }
  }
  return found;
};
