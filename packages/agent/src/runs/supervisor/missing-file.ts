import { FileReference } from '@rushhour/protocol';
import { Check } from 'typebox/value';

/** A file of a run that could not be fetched. */
export class MissingFile extends Error {
  readonly sha256: string;

  constructor(sha256: string, cause: Error) {
    super(cause.message, { cause });
    this.sha256 = sha256;
  }
}

/** Whether a configuration has a reference to a file. */
export const refersTo = (config: unknown, sha256: string): boolean => {
  if (typeof config !== 'object' || config === null) return false;
  if (Check(FileReference, config)) return config.$file === sha256;
  return Object.values(config).some((value) => refersTo(value, sha256));
};
