import { setImmediate as nextTurn } from 'node:timers/promises';
import { isActive } from '@rushhour/contract';
import { StorageUnavailable } from '../../store/engine/database.ts';
import { type Changes, ChangingRun } from '../lifecycle/changes.ts';
import type { RunView } from '../lifecycle/run-view.ts';
import type { RunWriter } from '../lifecycle/run-writer.ts';

interface Note {
  /** What it means for a run under way. */
  decide(view: RunView): Changes;
  /** The run has ended meanwhile. */
  onOver?(): void;
}

interface Deps {
  writer: RunWriter;
  /** Does work on a run when it is its turn. */
  post(runId: number, work: () => Promise<unknown>): Promise<void>;
  /** Looks at the run again, when it is its turn. */
  wake(runId: number): unknown;
}

const retryMs = 1000;

/**
 * What is heard about runs, written down in the order in which it came. What comes in while a run is busy is settled
 * together: a thousand agents say the same thing at once.
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
        // Nobody says it again: what could not be written down now must be later.
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
      // A transaction may take no turn of the event loop at all: without this one, nobody else would be heard meanwhile.
      await nextTurn();
      open.delete(runId);
      return settle(runId, notes);
    };
    void post(runId, work).then(() => wake(runId));
  };

  return { add };
};
