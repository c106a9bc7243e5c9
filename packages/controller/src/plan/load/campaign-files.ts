import type { Readable } from 'node:stream';
import { type ConfigurationEntry, compromisedHostPlugin } from '@rushhour/contract';
import { type ReadCampaigns, readCampaigns } from '../../security/campaigns/read-campaigns.ts';
import { validEntriesOf } from '../core/checked-values.ts';
import type { PlanFile } from '../core/plan-input.ts';

/** Reads campaigns that are written in files, by the id of the file. */
export type CampaignFiles = (files: ReadonlyMap<number, PlanFile>) => Promise<ReadonlyMap<number, ReadCampaigns>>;

/** The files of campaigns that a definition names; one that is missing gets its issue when the task is checked. */
export const campaignFilesOf = (
  configuration: readonly ConfigurationEntry[],
  files: ReadonlyMap<number, PlanFile>,
): ReadonlyMap<number, PlanFile> => {
  const ids = validEntriesOf(compromisedHostPlugin, configuration).flatMap(
    ({ values }) => values.compromisedHostParams.campaignFileIds,
  );
  return new Map(
    ids.flatMap((id) => {
      const file = files.get(id);
      return file?.isReady === true ? [[id, file] as const] : [];
    }),
  );
};

const maxBytes = 2 * 1_048_576;

interface Blobs {
  read(sha256: string): Promise<Readable>;
}

export const readCampaignFiles =
  (blobs: Blobs): CampaignFiles =>
  async (files) => {
    const found = new Map<number, ReadCampaigns>();
    for (const [id, { sha256, size }] of files) {
      const isTooLarge = size > maxBytes;
      const parts: Buffer[] = isTooLarge ? [] : await (await blobs.read(sha256)).toArray();
      found.set(id, isTooLarge ? { problem: `has more than ${maxBytes} bytes` } : readCampaigns(Buffer.concat(parts)));
    }
    return found;
  };
