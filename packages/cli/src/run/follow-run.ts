import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, RequestFailed } from '@rushhour/client/routes';
import type { ConfigurationEntry } from '@rushhour/contract';
import { Unreachable } from '../connection/unreachable.ts';
import { loadChanges, type Stage, stageAt } from './stages.ts';
import { liveText } from './summary.ts';

const isTerminal = (status: number) => status >= 7;
const pollMs = 1000;
/** A controller that restarts is waited for: its runs go on without it. */
const patienceMs = 120_000;
const quietLineMs = 10_000;

type Status = Awaited<ReturnType<Client['tasks']['status']>>['data'];

const clock = (seconds: number) => {
  const whole = Math.max(0, Math.round(seconds));
  return `${String(Math.floor(whole / 60)).padStart(2, '0')}:${String(whole % 60).padStart(2, '0')}`;
};

const progressText = ({ statusName, phase, elapsedSec, remainingSec, progress, queuePosition, paused }: Status) => {
  const state = paused ? 'paused' : phase || statusName;
  const time = remainingSec === null ? clock(elapsedSec) : `${clock(elapsedSec)}/${clock(elapsedSec + remainingSec)}`;
  const position = queuePosition === undefined ? '' : ` (position ${queuePosition})`;
  return `${`${state}${position}`.padEnd(10)} ${time} ${String(Math.round(progress * 100)).padStart(3)} %`;
};

/** A line that is overwritten on a terminal; elsewhere a line when the state changes and now and then. */
export const liveLine = (isQuiet: boolean) => {
  const { stderr } = process;
  let [lastState, lastAt, isOpen] = ['', 0, false];
  return {
    show: (state: string, text: string) => {
      if (isQuiet) return;
      if (stderr.isTTY) {
        isOpen = true;
        stderr.write(`\r${text.slice(0, (stderr.columns ?? 80) - 1)}\u001b[K`);
        return;
      }
      if (state === lastState && Date.now() - lastAt < quietLineMs) return;
      [lastState, lastAt] = [state, Date.now()];
      stderr.write(`${text}\n`);
    },
    end: () => {
      if (isOpen) stderr.write('\r\u001b[K');
      isOpen = false;
    },
  };
};

interface Followed {
  readonly client: Client;
  readonly taskId: number;
  readonly stages: readonly Stage[];
  readonly line: ReturnType<typeof liveLine>;
}

/** Gives a running task the rate of the stage it is in. */
const stageChanger = ({ client, taskId, stages, line }: Followed) => {
  let current = 0;
  let configuration: readonly ConfigurationEntry[] | undefined;
  return async ({ statusName, elapsedSec }: Status) => {
    const stage = statusName === 'running' ? stageAt(stages, elapsedSec) : undefined;
    if (stage === undefined || stage === current) return;
    current = stage;
    configuration ??= (await client.tasks.get({ params: { id: taskId } })).data.configuration;
    const rate = stages[stage]?.rate ?? 0;
    await client.tasks.changeLoad({ body: { id: taskId, changes: loadChanges(configuration, rate) } });
    line.show(`stage ${stage}`, `stage ${stage + 1} of ${stages.length}: ${rate}/s`);
  };
};

const latest = async (client: Client, id: number): Promise<string> => {
  try {
    const { data } = await client.tasks.metrics({ params: { id } });
    return liveText(data.values[0]?.metrics ?? []);
  } catch (error) {
    // There are none before the first second.
    if (error instanceof RequestFailed && error.status === 409) return '';
    throw error;
  }
};

/** Follows the active run of a task to its end. */
export const followRun = async (followed: Followed): Promise<void> => {
  const { client, taskId, line } = followed;
  const keepStage = stageChanger(followed);
  let answeredAt = Date.now();
  for (;;) {
    try {
      const { data } = await client.tasks.status({ params: { id: taskId } });
      answeredAt = Date.now();
      if (isTerminal(data.status)) return line.end();
      await keepStage(data);
      const metrics = data.statusName === 'running' ? await latest(client, taskId) : '';
      line.show(`${data.statusName} ${data.phase}`, `${progressText(data)}  ${metrics}`.trimEnd());
    } catch (error) {
      if (!(error instanceof Unreachable) || Date.now() - answeredAt > patienceMs) throw error;
      line.show('away', `${error.message}; waiting for it`);
    }
    await sleep(pollMs);
  }
};
