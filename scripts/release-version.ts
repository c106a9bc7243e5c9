import { execFileSync } from 'node:child_process';

/** The version of the tag `vX.Y.Z` on the commit that is checked out in a folder. */
export const taggedVersion = (folder: string): string | undefined => {
  try {
    const options = ['describe', '--tags', '--exact-match', '--match', 'v[0-9]*'];
    return execFileSync('git', options, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim()
      .slice(1);
  } catch {
    return undefined;
  }
};

/** Whether a changelog says what is new in a version. */
export const hasSection = (changelog: string, version: string): boolean =>
  changelog.split('\n').some((line) => line === `## ${version}` || line.startsWith(`## ${version} `));
