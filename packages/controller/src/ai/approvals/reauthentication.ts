import type { Executor } from '../../store/engine/database.ts';
import { statement } from '../../store/engine/statement.ts';

const freshMs = 15 * 60_000;

const opened = statement((db, p: { id: number }) =>
  db.selectFrom('sessions').select('createdAt').where('id', '=', p.id),
);

/** Has this user entered their password within the last 15 minutes? Renewing a session does not count. */
export const isFreshlySignedIn = async (read: Executor, sessionId: number, nowMs = Date.now()): Promise<boolean> => {
  const session = await opened.first(read, { id: sessionId });
  return session !== undefined && nowMs - Date.parse(session.createdAt) <= freshMs;
};
