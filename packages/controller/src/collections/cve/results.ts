import { cursorOf, pageRequestOf } from '../../crud.ts';
import { notFound } from '../../errors.ts';
import { cveSignatures } from '../../store/cve.ts';
import type { Store } from '../../store/index.ts';

const nothing = {
  attempts: 0,
  blocked: 0,
  modified: 0,
  passed: 0,
  inconclusive: 0,
  error: 0,
  detected: 0,
  blockRate: null,
  ci95: null,
};

export const cveResults = async (store: Store, id: number, query: object) => {
  if ((await cveSignatures.find(store.read, id)) === undefined) throw notFound('signature', id);
  const { limit, offset } = pageRequestOf(query, 'id');
  return { cursor: cursorOf(limit, offset, 0), data: [], summary: nothing };
};
