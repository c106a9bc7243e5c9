import { assertAllFound } from '../../crud.ts';
import { files, filesMadeFrom } from '../../store/assets/files.ts';
import type { Change } from '../../store/engine/change.ts';
import { assertUnused, referencesTo } from '../../store/engine/links.ts';
import type { FileService } from './file-service.ts';
import { assertNotMalware } from './refusals.ts';

/** Unused files derived from these contents. */
const findUnusedDerived = async (tx: Change, sha256s: readonly string[], known: ReadonlySet<number>) => {
  const made = (await filesMadeFrom(tx, sha256s)).map(({ id }) => id).filter((id) => !known.has(id));
  const used = new Set((await referencesTo(tx, 'file', made, made.length * 100 + 1)).map(({ usesID }) => usesID));
  return files.findMany(
    tx,
    made.filter((id) => !used.has(id)),
  );
};

/** Deletes files that no record uses, with `force` also what was made from them. Answers the ids that are gone. */
export const removeFiles = async (tx: Change, service: FileService, ids: readonly number[], force: boolean) => {
  const found = await files.findMany(tx, ids);
  assertAllFound(
    'file',
    ids,
    found.map(({ id }) => id),
  );
  found.forEach(assertNotMalware);
  await assertUnused(tx, 'file', ids);
  const known = new Set(ids);
  for (let fresh = found; force && fresh.length > 0; ) {
    fresh = await findUnusedDerived(
      tx,
      fresh.map(({ sha256 }) => sha256),
      known,
    );
    for (const file of fresh) known.add(file.id);
    found.push(...fresh);
  }
  await service.remove(tx, found);
  return [...known];
};
