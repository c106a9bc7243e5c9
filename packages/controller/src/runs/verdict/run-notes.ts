import { setImmediate as nextIteration } from 'node:timers/promises';
import { isActive } from '@rushhour/contract';
import { StorageUnavailable } from '../../store/engine/database.ts';
import { type Changes, ChangingRun } from '../lifecycle/changes.ts';
import type { RunView } from '../lifecycle/run-view.ts';
import type { RunWriter } from '../lifecycle/run-writer.ts';

interface Note {
  /** Effect on an active run. */
  decide(view: RunView): Changes;
  /** Called when the run has already ended. */
  onOver?(): void;
}

interface Deps {
  writer: RunWriter;
  /** Queues work on a run. */
  post(runId: number, work: () => Promise<unknown>): Promise<void>;
  /** Queues another look at the run. */
  wake(runId: number): unknown;
}

const retryMs = 1000;

/**
 * Events of runs, stored in order of arrival. Events that arrive while a run is busy are stored
 * together: a thousand agents report the same state at once.
 */
export const createRunNotes = ({ writer, post, wake }: Deps) => {
  const open = new Map<number, Note[]>();

  const settle = (runId: number, notes: readonly Note[]) =>
    writer
      .edit(runId, (view) => {
        if (!isActive(view.run.status)) {
          for (const { onOver } of notes) onOver?.();
          return {};
        }
        const run = new ChangingRun(view);
        for (const { decide } of notes) run.take(decide);
        return run.changes;
      })
      .catch((error) => {
        // Agents do not repeat it: what could not be stored now is retried.
        if (error instanceof StorageUnavailable) {
          setTimeout(() => notes.forEach((note) => void add(runId, note)), retryMs).unref();
        }
        throw error;
      });

  const add = (runId: number, note: Note) => {
    const waiting = open.get(runId);
    if (waiting) {
      waiting.push(note);
      return;
    }
    const notes = [note];
    open.set(runId, notes);
    const work = async () => {
      // A transaction may never yield to the event loop: without this, no other event would be handled meanwhile.
      await nextIteration();
      open.delete(runId);
      return settle(runId, notes);
    };
    void post(runId, work).then(() => wake(runId));
  };

  return { add };
};
