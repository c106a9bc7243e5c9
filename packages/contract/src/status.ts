/** Status of a task and of a run. */
export const runStatus = {
  created: 0,
  queued: 1,
  preparing: 2,
  armed: 3,
  running: 4,
  paused: 5,
  stopping: 6,
  finished: 7,
  stopped: 8,
  failed: 9,
} as const;

export type StatusName = keyof typeof runStatus;
export type Status = (typeof runStatus)[StatusName];
export type EndStatus = 7 | 8 | 9;

export const statusNames = Object.keys(runStatus) as readonly StatusName[];
export const statusNameOf = (status: number): StatusName | undefined => statusNames[status];

/** From queued to stopping: the run holds or waits for agents. */
export const isActive = (status: number) => status >= runStatus.queued && status <= runStatus.stopping;
export const isTerminal = (status: number) => status >= runStatus.finished && status <= runStatus.failed;
export const activeStatuses: readonly Status[] = Object.values(runStatus).filter(isActive);

export const verdicts = { none: 0, passed: 1, failed: 2, inconclusive: 3 } as const;
export const verdictNames = Object.keys(verdicts) as readonly (keyof typeof verdicts)[];

export const agentStatus = {
  enrolled: 0,
  online: 1,
  busy: 2,
  suspect: 3,
  offline: 4,
  blocked: 5,
  upgrading: 6,
  incompatible: 7,
} as const;

/** The agent has a session with the controller. `suspect`: a heartbeat is late. */
export const isConnected = (status: number) => status >= agentStatus.online && status <= agentStatus.suspect;
