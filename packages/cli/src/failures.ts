import { RequestFailed } from '@rushhour/client/routes';
import { CommanderError } from 'commander';
import { explained, Unreachable } from './connection/unreachable.ts';
import { exitCodes, UsageError } from './exit-codes.ts';

interface Failure {
  readonly text: string;
  readonly code: number;
}

const refusalOf = (error: RequestFailed): Failure => {
  const issues = (error.data.issues ?? []).map(({ path, message }) => `\n  ${path || '/'}: ${message}`);
  const isDenied = error.status === 401 || error.status === 403;
  const hint = error.status === 401 ? '\nsign in with `rushhour login`, or set RUSHHOUR_TOKEN' : '';
  return { text: `${error.message}${issues.join('')}${hint}`, code: isDenied ? exitCodes.denied : exitCodes.refused };
};

/** What is printed for an error and the code the program ends with. Bugs are thrown on. */
export const failureOf = (thrown: unknown): Failure => {
  // A stream that breaks off fails outside of the request.
  const error = explained(thrown, 'the other end');
  if (error instanceof CommanderError) return { text: '', code: error.exitCode === 0 ? exitCodes.ok : exitCodes.usage };
  if (error instanceof UsageError) return { text: error.message, code: exitCodes.usage };
  if (error instanceof Unreachable) return { text: error.message, code: exitCodes.unreachable };
  if (error instanceof RequestFailed) return refusalOf(error);
  throw error;
};
