import { RequestFailed } from '@rushhour/client';

/** Messages by JSON pointer. */
export type Issues = Readonly<Record<string, string>>;

/** The first message of each JSON pointer. */
export const issuesOf = (found: readonly { path: string; message: string }[]): Issues =>
  Object.fromEntries([...found].reverse().map(({ path, message }) => [path, message]));

/** The issues of a rejected request; empty for other errors. */
export const issuesIn = (error: unknown): Issues =>
  issuesOf((error instanceof RequestFailed && error.data.issues) || []);
