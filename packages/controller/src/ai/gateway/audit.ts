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

const sumOf = (known: KeyUse | undefined, use: KeyUse): KeyUse => ({
  ...use,
  requests: (known?.requests ?? 0) + use.requests,
  writes: (known?.writes ?? 0) + use.writes,
  denials: (known?.denials ?? 0) + use.denials,
});

/** One entry per call: writes are audited in their transaction, reads in batches a little later. */
export class AiAudit {
  readonly #store: Store;
  readonly #log: Pick<Logger, 'error'>;
  #waiting: AuditEntry[] = [];
  #uses = new Map<string, KeyUse>();
  #isBroken = false;
  #timer: NodeJS.Timeout | undefined;
  #writing = Promise.resolve();

  constructor(store: Store, log: Pick<Logger, 'error'>) {
    this.#store = store;
    this.#log = log;
  }

  /** Stored within a second. */
  enter(entry: AuditEntry): void {
    this.#waiting.push(entry);
    this.#schedule();
  }

  /** Resolves when the entry is stored; otherwise the call must not be answered. */
  enterNow(entry: AuditEntry): Promise<void> {
    this.#waiting.push(entry);
    return this.flush();
  }

  noteUse(use: KeyUse): void {
    this.#addUse(use);
    this.#schedule();
  }

  /** Writes need a stored audit entry; entries of reads are buffered. */
  async assertWritable(isRead: boolean): Promise<void> {
    if (this.#isBroken && !isRead) await this.flush();
    if (this.#waiting.length >= maxWaiting) throw auditUnavailable();
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const written = this.#writing.then(() => this.#write());
    this.#writing = written.catch(() => this.#schedule());
    return written;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.flush().catch(() => {});
  }

  async #write(): Promise<void> {
    const [entries, used] = [this.#waiting, this.#uses];
    if (entries.length === 0 && used.size === 0) return;
    this.#waiting = [];
    this.#uses = new Map();
    try {
      await this.#store.database.transaction(async (tx) => {
        await lockAudit(tx);
        for (const entry of entries) await appendAudit(tx, this.#store.secrets, entry);
        for (const use of used.values()) await noteUse(tx, use);
      });
      this.#isBroken = false;
    } catch (error) {
      this.#isBroken = true;
      this.#waiting = [...entries, ...this.#waiting];
      for (const use of used.values()) this.#addUse(use);
      this.#log.error({ err: error }, 'could not write the audit of AI calls');
      throw auditUnavailable();
    }
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.flush().catch(() => {}), batchMs).unref();
  }

  #addUse(use: KeyUse): void {
    const name = `${use.keyID} ${use.day}`;
    this.#uses.set(name, sumOf(this.#uses.get(name), use));
  }
}
