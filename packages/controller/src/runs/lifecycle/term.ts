import type { Logger } from 'pino';
import type { Leadership } from '../../store/runs/run-leadership.ts';
import type { Conductor } from './conductor.ts';

interface Deps {
  conductor: Conductor;
  leadership: Leadership;
  electionMs: number;
  log: Logger;
}

/** Conducts as long as it is our turn, and keeps trying while it is not. */
export const startTerm = ({ conductor, leadership, electionMs, log }: Deps) => {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  /** Terms follow one another; none begins before the last one has ended. */
  let turn: Promise<void> = Promise.resolve();

  const tryLater = () => {
    if (!isOver) timer = setTimeout(() => void attempt(), electionMs);
  };
  const stand = async () => {
    if (isOver) return;
    if (await leadership.acquire()) await conductor.start();
    else tryLater();
  };
  const attempt = () => {
    turn = turn.then(stand).catch((error) => {
      log.error({ err: error }, 'runs could not be taken up');
      tryLater();
    });
    return turn;
  };
  leadership.onLost(() => {
    log.warn('another controller may conduct runs from now on');
    turn = turn.then(() => conductor.stop());
    tryLater();
  });

  return {
    /** Throws what keeps the runs from being taken up. */
    begin: async () => {
      turn = turn.then(stand);
      await turn;
    },
    end: async () => {
      isOver = true;
      clearTimeout(timer);
      await turn.catch(() => {});
      await conductor.stop();
      await leadership.close();
    },
  };
};
