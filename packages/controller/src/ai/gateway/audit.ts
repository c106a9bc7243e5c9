import type { Logger } from 'pino';
import { unavailable } from '../../errors.ts';
import { type KeyUse, noteUse } from '../../store/ai/ai-keys.ts';
import { type AuditEntry, appendAudit, lockAudit } from '../../store/engine/audit.ts';
import type { Store } from '../../store/store.ts';

const batchMs = 500;
/** Above this, calls are refused until the database accepts entries again. */
const maxWaiting = 10_000;

/** Nothing is executed that cannot be audited. */
export const auditUnavailable = () => unavailable('AUDIT_UNAVAILABLE', 'the audit cannot be written');

/** One entry per call: writes are audited in their transaction, reads in batches a little later. */
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
      log.error({ err: error }, 'could not write the audit of AI calls');
      throw auditUnavailable();
    }
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const written = writing.then(write);
    writing = written.catch(() => schedule());
    return written;
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
    /** Stored within a second. */
    enter: (entry: AuditEntry) => {
      waiting.push(entry);
      schedule();
    },
    /** Resolves when the entry is stored; otherwise the call must not be answered. */
    enterNow: (entry: AuditEntry) => {
      waiting.push(entry);
      return flush();
    },
    noteUse: (use: KeyUse) => {
      addUse(use);
      schedule();
    },
    /** Writes need a stored audit entry; entries of reads are buffered. */
    assertWritable: async (isRead: boolean) => {
      if (isBroken && !isRead) await flush();
      if (waiting.length >= maxWaiting) throw auditUnavailable();
    },
    flush,
    close: async () => {
      clearTimeout(timer);
      await flush().catch(() => {});
    },
  };
};
