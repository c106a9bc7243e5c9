/** Metrics every engine shares with the watch over the generator. */
export const strainMetrics = {
  scheduleLag: 'agent.scheduleLag',
  socketErrors: 'agent.socketErrors',
} as const;

/** Errors that are this machine's fault and not the target's. */
const ownErrorCodes = new Set(['EADDRNOTAVAIL', 'EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRINUSE']);
export const isOwnSocketError = (code: string | undefined): boolean => code !== undefined && ownErrorCodes.has(code);
