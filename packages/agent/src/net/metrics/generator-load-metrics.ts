/** Metrics that engines write and the generator load monitor reads. */
export const generatorLoadMetrics = {
  scheduleLag: 'agent.scheduleLag',
  socketErrors: 'agent.socketErrors',
  /** Part of the schedule lag during which every session was waiting for its peer. */
  sessionWait: 'agent.sessionWait',
  /** Events that are due and have not begun. */
  overdue: 'agent.overdue',
} as const;

/** Errors caused by this machine, not by the target. */
const localErrorCodes = new Set(['EADDRNOTAVAIL', 'EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRINUSE']);
export const isLocalSocketError = (code: string | undefined): boolean =>
  code !== undefined && localErrorCodes.has(code);
