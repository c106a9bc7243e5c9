import { RequestFailed } from '@rushhour/client';

/** Messages by JSON pointer. */
export type Issues = Readonly<Record<string, string>>;

/** The first message of each place. */
export const issuesOf = (found: readonly { path: string; message: string }[]): Issues =>
  Object.fromEntries([...found].reverse().map(({ path, message }) => [path, message]));

/** What a refusal says about single places; nothing when it is about something else. */
export const issuesIn = (error: unknown): Issues =>
  issuesOf((error instanceof RequestFailed && error.data.issues) || []);
