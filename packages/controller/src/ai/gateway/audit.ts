import type { Logger } from 'pino';
import { unavailable } from '../../errors.ts';
import { type KeyUse, noteUse } from '../../store/ai/ai-keys.ts';
import { type AuditEntry, appendAudit, lockAudit } from '../../store/engine/audit.ts';
import type { Store } from '../../store/store.ts';

const batchMs = 500;
/** Beyond this calls are refused until the database takes entries again. */
const mostWaiting = 10_000;

/** Nothing is done that cannot be written down. */
export const auditUnavailable = () => unavailable('AUDIT_UNAVAILABLE', 'the audit cannot be written');

/** One entry for each call: what changes something is entered with the change, reads a little later and together. */
export const createAiAudit = (store: Store, log: Pick<Logger, 'error'>) => {
  let waiting: AuditEntry[] = [];
  let uses = new Map<string, KeyUse>();
  let isBroken = false;
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();

  const write = async () => {
    const entries = waiting;
    const used = uses;
    if (entries.length === 0 && used.size === 0) return;
    waiting = [];
    uses = new Map();
    try {
      await store.database.transaction(async (tx) => {
        await lockAudit(tx);
        for (const entry of entries) await appendAudit(tx, entry);
        for (const use of used.values()) await noteUse(tx, use);
      });
      isBroken = false;
    } catch (error) {
      isBroken = true;
      waiting = [...entries, ...waiting];
      for (const use of used.values()) addUse(use);
      log.error({ err: error }, 'the audit of AI calls cannot be written');
      throw auditUnavailable();
    }
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const turn = writing.then(write);
    writing = turn.catch(() => schedule());
    return turn;
  };
  const schedule = () => {
    timer ??= setTimeout(() => void flush().catch(() => {}), batchMs).unref();
  };
  const addUse = (use: KeyUse) => {
    const name = `${use.keyID} ${use.day}`;
    const known = uses.get(name);
    uses.set(
      name,
      known === undefined
        ? { ...use }
        : {
            ...use,
            requests: known.requests + use.requests,
            writes: known.writes + use.writes,
            denials: known.denials + use.denials,
          },
    );
  };

  return {
    /** Entered within a second. */
    enter: (entry: AuditEntry) => {
      waiting.push(entry);
      schedule();
    },
    /** Entered when the promise resolves; otherwise the call must not be answered. */
    enterNow: (entry: AuditEntry) => {
      waiting.push(entry);
      return flush();
    },
    noteUse: (use: KeyUse) => {
      addUse(use);
      schedule();
    },
    /** Nothing may be changed that cannot be written down; reads are kept in mind for a while. */
    assertWritable: async (isRead: boolean) => {
      if (isBroken && !isRead) await flush();
      if (waiting.length >= mostWaiting) throw auditUnavailable();
    },
    flush,
    close: async () => {
      clearTimeout(timer);
      await flush().catch(() => {});
    },
  };
};
