import type { FoundReference } from '@rushhour/contract';
import type { Issue } from '../../errors.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { ReferredRecords } from '../../store/engine/referred-records.ts';
import { readSettings } from '../../store/system/settings.ts';

type Sample = ReferredRecords['file'];

interface Interlocks {
  readonly allowNonInert: boolean;
  readonly now: string;
}

const isReleased = ({ state, quarantine, releaseEndsAt }: Sample, now: string) =>
  state === 'ready' && quarantine === 'released' && (releaseEndsAt === null || releaseEndsAt > now);

const decideVerdict = ({ path }: FoundReference, sample: Sample, { allowNonInert, now }: Interlocks): Issue[] => {
  const { name, inert } = sample;
  if (!isReleased(sample, now)) {
    return [{ path, code: 'SAMPLE_QUARANTINED', message: `sample "${name}" is in quarantine` }];
  }
  if (inert === 1 || allowNonInert) return [];
  const message = `sample "${name}" is no inert test file, and the setting malware.allowNonInert is off`;
  return [{ path, code: 'NON_INERT_NOT_ALLOWED', message }];
};

/** Samples a task may not use: those in quarantine, and, unless the setting allows them, all that are not inert. */
export const sampleIssues = async (
  executor: Executor,
  references: readonly FoundReference[],
  known: ReadonlyMap<number, Sample>,
): Promise<Issue[]> => {
  const named = references.flatMap((reference) => {
    const record = reference.kind === 'file' ? known.get(reference.id) : undefined;
    const isFit = reference.categories?.includes('malware') ?? false;
    return record?.category === 'malware' && isFit ? [{ reference, record }] : [];
  });
  if (named.length === 0) return [];
  const { allowNonInert } = (await readSettings(executor)).malware;
  const interlocks = { allowNonInert, now: new Date().toISOString() };
  return named.flatMap(({ reference, record }) => decideVerdict(reference, record, interlocks));
};
