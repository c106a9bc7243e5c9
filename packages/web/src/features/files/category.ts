import { client } from '../../lib/client.ts';
import type { Category } from './remembered-uploads.ts';

export const categoriesQuery = {
  queryKey: ['files', 'categories'],
  queryFn: async () => (await client.files.categories()).data,
  staleTime: 600_000,
};

/** The category that takes files with such a name. */
export const categoryOf = (
  name: string,
  known: readonly { category: Category; extensions: readonly string[] }[],
): Category => {
  const lower = name.toLowerCase();
  const fits = known.find(
    ({ category, extensions }) =>
      category !== 'malware' && extensions.some((extension) => lower.endsWith(`.${extension.replace(/^\./, '')}`)),
  );
  return fits?.category ?? 'other';
};
