import type { api } from '@rushhour/contract';
import { cursorOf } from '../crud.ts';
import { invalid } from '../errors.ts';
import type { Handlers } from '../handler.ts';
import { healthBetween, latestHealth } from '../store/agents/agent-health.ts';
import { agentLogs } from '../store/agents/agent-logs.ts';
import type { AgentRow } from '../store/agents/agents.ts';
import type { Store } from '../store/store.ts';
import type { Agents } from './gateway/agents.ts';
import { pointOf, seriesOf } from './health-series.ts';
import { instantOf } from './instant.ts';

type TelemetryHandlers = Pick<Handlers<typeof api.agents>, 'metrics' | 'logs'>;
type Level = 'debug' | 'info' | 'warn' | 'error';

const usualSpanMs = 3_600_000;
const usualStepSec = 10;
const levels: readonly Level[] = ['debug', 'info', 'warn', 'error'];

interface Deps {
  store: Store;
  agents: Agents;
  mustFind(id: number): Promise<AgentRow>;
}

/** What agents tell about themselves while they work: health and logs. */
export const telemetryHandlers = ({ store, agents, mustFind }: Deps): TelemetryHandlers => {
  const latestOf = async (agentID: number) => {
    const health = agents.gateway.find(agentID)?.health;
    const reading = health
      ? { agentID, at: health.at, health: health.reading }
      : await latestHealth(store.read, agentID);
    return reading ? pointOf(reading) : null;
  };

  return {
    metrics: async ({ params: { id }, query }) => {
      await mustFind(id);
      const latest = await latestOf(id);
      const { from: start, to: end, step } = query;
      if (start === undefined && end === undefined && step === undefined) return { data: { latest, series: [] } };
      const to = end === undefined ? Date.now() : instantOf(end, '/to', 'query');
      const from = start === undefined ? to - usualSpanMs : instantOf(start, '/from', 'query');
      if (from > to) throw invalid([{ path: '/from', code: 'AFTER_TO', message: 'must not be after to', in: 'query' }]);
      const stepMs = (step ?? usualStepSec) * 1000;
      return { data: { latest, series: await seriesOf(healthBetween(store.read, id, from, to), stepMs) } };
    },
    logs: async ({ params: { id }, query: { count = 20, page = 1, level, since, search } }) => {
      await mustFind(id);
      const offset = (page - 1) * count;
      const { rows, total } = await agentLogs.page(store.read, {
        key: 'ts',
        order: 'desc',
        limit: count,
        offset,
        search,
        filters: {
          agentID: id,
          levels: level && JSON.stringify(levels.slice(levels.indexOf(level))),
          since: since === undefined ? undefined : instantOf(since, '/since', 'query'),
        },
      });
      const data = rows.map(({ ts, level: own, source, message }) => ({
        ts: new Date(ts).toISOString(),
        level: own as Level,
        source,
        message,
      }));
      return { cursor: cursorOf(count, offset, total), data };
    },
  };
};
