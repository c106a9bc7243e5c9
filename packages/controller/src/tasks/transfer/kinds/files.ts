import { files, filesWith } from '../../../store/assets/files.ts';
import type { Travelling } from './travelling.ts';

export const travellingFiles: Travelling<'files'> = {
  read: async (executor, id) => {
    const found = await files.find(executor, id);
    if (found === undefined) return undefined;
    if (found.state === 'uploading') return { absent: 'its upload is not complete' };
    const { name, category, mime, size, sha256, original_sha256, tags, first_seen_at } = found;
    const file = { name, category, mime, size, sha256, original_sha256, tags, first_seen_at };
    return { file: file as never, payloadIncluded: false, payloadPath: '', payloadSkipped: '' };
  },
  nameOf: ({ file }) => file.name,
  references: () => [],
  essenceOf: ({ file: { category, sha256 } }) => ({ category, sha256 }),
  lookAlikes: async (executor, { file: { sha256 } }) => (await filesWith(executor, sha256)).map(({ id }) => id),
};
