import { type Issue, invalid } from '../errors.ts';

/** Milliseconds since 1970. A leap second is a time by RFC 3339, but none that clocks of ours can tell. */
export const instantOf = (time: string, path: string, where?: Issue['in']): number => {
  const ms = Date.parse(time);
  if (!Number.isNaN(ms)) return ms;
  throw invalid([{ path, code: 'BAD_TIME', message: 'is a time that cannot be told', ...(where && { in: where }) }]);
};
