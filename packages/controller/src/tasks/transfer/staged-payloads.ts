import type { Staged } from '../../store/blobs/blobs.ts';
import type { ArchiveFiles } from './archive-files.ts';
import { storedArchive } from './archive-files.ts';
import { type CheckedArchive, checkArchive } from './check-archive.ts';
import type { Decisions } from './decide.ts';
import type { PartsOf } from './kinds/travelling.ts';
import { payloadsOf } from './plan.ts';
import { walkArchive } from './walk-archive.ts';

/** The texts of an archive that was looked at before; its contents were found to be what they say. */
export const reopenArchive = async (files: ArchiveFiles, sha256: string): Promise<CheckedArchive> => {
  const texts = await walkArchive(await storedArchive(files, sha256), Number.MAX_SAFE_INTEGER, async () => {});
  const plan = texts.manifest as CheckedArchive['plan'];
  return checkArchive(texts, payloadsOf(plan.dependencies));
};

/** Where the contents of the records that will be made lie in the archive. */
const wantedPaths = (decisions: Decisions): Set<string> => {
  const paths = new Set<string>();
  for (const decision of decisions.values()) {
    if (decision.how !== 'create') continue;
    const { kind, parts } = decision.record;
    if (kind === 'files') paths.add((parts as unknown as PartsOf<'files'>).payloadPath);
    if (kind === 'dictionaries') paths.add((parts as unknown as PartsOf<'dictionaries'>).dictionary.rowsPath);
  }
  paths.delete('');
  return paths;
};

/** Takes the contents that are needed out of the archive; whoever calls it discards them. */
export const stagePayloads = async (
  files: ArchiveFiles,
  sha256: string,
  decisions: Decisions,
  staged: Map<string, Staged>,
) => {
  const wanted = wantedPaths(decisions);
  if (wanted.size === 0) return;
  await walkArchive(await storedArchive(files, sha256), Number.MAX_SAFE_INTEGER, async (path, open) => {
    if (wanted.has(path)) staged.set(path, await files.blobs.stage(open()));
  });
};
