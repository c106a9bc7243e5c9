import { type Issue, invalid } from '../../errors.ts';
import { CertificateError } from './certificate-error.ts';

/** Turns certificate errors into a bad request; `others` finds further problems. */
export const reported = async <T>(
  work: () => Promise<T>,
  others: () => readonly Issue[] | Promise<readonly Issue[]> = () => [],
): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    const first = issueOf(error);
    const rest = (await others()).filter(({ path, code }) => path !== first.path || code !== first.code);
    throw invalid([first, ...rest].slice(0, 100), error.code);
  }
};

/** The problem that the work fails with, if any. */
export const problemOf = async (work: () => unknown): Promise<Issue[]> => {
  try {
    await work();
    return [];
  } catch (error) {
    if (error instanceof CertificateError) return [issueOf(error)];
    throw error;
  }
};

const issueOf = ({ path, code, message }: CertificateError): Issue => ({ path, code, message });

/** The same error, reported for another member of the request. */
export const movedTo = (path: string, from: string, code?: CertificateError['code']) => (error: unknown) => {
  if (!(error instanceof CertificateError) || error.path !== from) throw error;
  throw new CertificateError(code ?? error.code, path, error.message, { cause: error });
};
