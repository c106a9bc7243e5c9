import type { Logger } from 'pino';
import type { Bus } from '../../bus/local.ts';
import { busyAgents } from '../../store/agents/agent-work.ts';
import type { Executor } from '../../store/engine/database.ts';

const soonMs = 50;
const everyMs = 2000;

interface Deps {
  read: Executor;
  bus: Bus;
  log: Logger;
  onChange(busy: ReadonlySet<number>): void;
}

/** Keeps track of which agents take part in runs: looks when a run changes, and every few seconds anyway. */
export const startBusyWatch = ({ read, bus, log, onChange }: Deps) => {
  let soon: NodeJS.Timeout | undefined;
  const look = () =>
    busyAgents(read)
      .then(onChange)
      .catch((error) => log.error({ err: error }, 'the work of agents could not be read'));
  const lookSoon = () => {
    soon ??= setTimeout(() => {
      soon = undefined;
      void look();
    }, soonMs);
  };
  const endings = [bus.subscribe('run.changed', lookSoon), bus.subscribe('task.status', lookSoon)];
  const timer = setInterval(() => void look(), everyMs);
  return {
    look,
    stop: () => {
      for (const end of endings) end();
      clearInterval(timer);
      clearTimeout(soon);
    },
  };
};
