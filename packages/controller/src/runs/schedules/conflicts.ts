/** What occupies agents for a time; a run without a planned end is reckoned with `unknownMs`. */
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

/** How long a run takes that ends by count or by hand, as far as anybody can know. */
export const unknownMs = 3_600_000;
/** Between two runs agents need a moment. */
const betweenMs = 10_000;
const maxConflicts = 100;

/** Where others use the same agents at the same time; `at` is when the later of the two begins. */
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

/** Both lists are in order, so one walk along them is enough. */
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
