/** Metrics that engines write and the generator load monitor reads. */
export const generatorLoadMetrics = {
  scheduleLag: 'agent.scheduleLag',
  socketErrors: 'agent.socketErrors',
} as const;

/** Errors caused by this machine, not by the target. */
const localErrorCodes = new Set(['EADDRNOTAVAIL', 'EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRINUSE']);
export const isLocalSocketError = (code: string | undefined): boolean =>
  code !== undefined && localErrorCodes.has(code);
