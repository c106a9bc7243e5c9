import type { Blobs } from '../../store/blobs/blobs.ts';
import type { Store } from '../../store/store.ts';
import {
  expireTaskImports,
  forgetTaskImports,
  hasExpiredImports,
  isContentKept,
} from '../../store/tasks/task-imports.ts';

interface Deps {
  readonly store: Store;
  readonly blobs: Pick<Blobs, 'remove'>;
}

const origin = { userId: null, address: '', requestId: 'housekeeping', operation: 'tasks.expireImports' };

/** Removes content used by neither a file nor a pending import. The next start repeats a failed removal. */
export const createRelease =
  ({ store, blobs }: Deps) =>
  (sha256: string): Promise<boolean> =>
    blobs.remove(sha256, (content) => isContentKept(store.read, content)).catch(() => false);

/** Expires imports that were not executed in time. */
export const sweepTaskImports = async (deps: Deps) => {
  const { store } = deps;
  const now = new Date();
  if (await hasExpiredImports(store.read, now.toISOString())) {
    const contents = await store.change(origin, expireTaskImports);
    await Promise.all(contents.map(createRelease(deps)));
  }
  await store.database.transaction((tx) => forgetTaskImports(tx, now));
};
