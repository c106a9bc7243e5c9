import { invalid } from '../../../errors.ts';
import { at } from '../at-place.ts';
import type { Prepare } from './arrival.ts';

export const prepareFile: Prepare<'files'> = async ({ file, payloadPath }, { rules, contentAt }) => {
  const content = contentAt(payloadPath);
  const { name, category, tags, first_seen_at } = file;
  const facts = await at('/file', () => {
    if (category !== 'malware') return rules.file(content, { name, category, tags, first_seen_at });
    const message = 'samples of malware come in by POST /malware';
    throw invalid([{ path: '/category', code: 'MALWARE_CATEGORY', message }], 'MALWARE_CATEGORY');
  });
  return (tx) => rules.insertFile(tx, content, facts);
};
