import type { CampaignStep, FoundReference } from '@rushhour/contract';

const kinds = { dictionaryId: 'dictionary', fileID: 'file' } as const;

/** Records that steps name; `path` is the pointer into the steps. */
export const stepReferences = (steps: readonly CampaignStep[]): FoundReference[] =>
  steps.flatMap(({ params }, index) =>
    Object.entries(kinds).flatMap(([member, kind]): FoundReference[] => {
      const id = params[member];
      if (typeof id !== 'number') return [];
      const found = { kind, id, path: `/${index}/params/${member}`, beside: params };
      return [kind === 'file' ? { ...found, categories: ['malware'] } : found];
    }),
  );
