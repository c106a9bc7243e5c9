import { networkSignatures } from '../../content/cve/network/network-signatures.ts';
import type { TemplateFile, TemplateOutcome } from './template.ts';

const families = [...new Set(networkSignatures.map(({ family }) => family))];

/** Our own network signatures of the protocols that the content names, one after the other, or of all of them. */
export const readNetwork = ({ bytes }: TemplateFile): TemplateOutcome[] => {
  const wanted = bytes
    .toString('utf8', 0, 4096)
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  const unknown = wanted.filter((name) => name !== 'all' && !families.includes(name));
  return [
    ...unknown.map((name) => ({ templateId: name, refused: `there are signatures of ${families.join(', ')}, or all` })),
    ...networkSignatures
      .filter(({ family }) => wanted.includes('all') || wanted.includes(family))
      .map(({ ref, family: _, ...draft }): TemplateOutcome => {
        return { templateId: ref, source: 'user', sourceRef: ref, draft, warnings: [] };
      }),
  ];
};
