import { ApiError, type Issue, invalid } from '../../../errors.ts';

/** Runs a check of a part and prefixes its issues with the position of the part. */
export const at = async <T>(path: string, work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== 'invalid') throw error;
    const issues = error.data['issues'] as Issue[];
    throw invalid(
      issues.map((issue) => ({ ...issue, path: path + issue.path })),
      error.code,
    );
  }
};

/** Runs a check and collects its issues; undefined when there are some. */
export const collecting = async <T>(issues: Issue[], work: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== 'invalid') throw error;
    issues.push(...(error.data['issues'] as Issue[]));
    return undefined;
  }
};
