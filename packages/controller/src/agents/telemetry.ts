import type { AgentHealthPoint, api } from '@rushhour/contract';
import type { AgentHealth } from '@rushhour/protocol';
import { cursorOf } from '../crud.ts';
import { type Issue, invalid } from '../errors.ts';
import type { Handlers } from '../handler.ts';
import { type HealthReading, healthBetween, latestHealth } from '../store/agents/agent-health.ts';
import { agentLogs } from '../store/agents/agent-logs.ts';
import type { AgentRow } from '../store/agents/agents.ts';
import type { Store } from '../store/store.ts';
import type { Agents } from './gateway/agents.ts';

type Interface = AgentHealth['interfaces'][number];

const pointOf = ({ at, health }: HealthReading): AgentHealthPoint => ({
  ts: new Date(at).toISOString(),
  ...health,
});

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / (values.length || 1);
const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

/** Rates are averaged, drops are added up. */
const interfaceOf = (name: string, readings: readonly Interface[]): Interface => {
  const mean = (member: 'rxBps' | 'txBps' | 'rxPps' | 'txPps') => meanOf(readings.map((reading) => reading[member]));
  return {
    name,
    rxBps: mean('rxBps'),
    txBps: mean('txBps'),
    rxPps: mean('rxPps'),
    txPps: mean('txPps'),
    rxDrops: sumOf(readings.map(({ rxDrops }) => rxDrops)),
    txDrops: sumOf(readings.map(({ txDrops }) => txDrops)),
  };
};

const averageOf = (readings: readonly AgentHealth[]): AgentHealth => {
  const cores = Math.max(0, ...readings.map(({ cpuPct }) => cpuPct.length));
  const mean = (member: 'memoryUsedMb' | 'load1' | 'diskFreeMb') => meanOf(readings.map((reading) => reading[member]));
  const byName = Map.groupBy(
    readings.flatMap(({ interfaces }) => interfaces),
    ({ name }) => name,
  );
  return {
    cpuPct: Array.from({ length: cores }, (_, core) => meanOf(readings.flatMap(({ cpuPct }) => cpuPct[core] ?? []))),
    memoryUsedMb: mean('memoryUsedMb'),
    load1: mean('load1'),
    diskFreeMb: mean('diskFreeMb'),
    interfaces: [...byName].map(([name, of]) => interfaceOf(name, of)),
  };
};

/** One point for each step that has readings, at the beginning of the step. */
const seriesOf = async (readings: AsyncIterable<HealthReading>, stepMs: number): Promise<AgentHealthPoint[]> => {
  const points: AgentHealthPoint[] = [];
  let step: number | undefined;
  let inStep: AgentHealth[] = [];
  const finish = () => {
    if (step !== undefined) points.push({ ts: new Date(step * stepMs).toISOString(), ...averageOf(inStep) });
  };
  for await (const { at, health } of readings) {
    const next = Math.floor(at / stepMs);
    if (next !== step) {
      finish();
      step = next;
      inStep = [];
    }
    inStep.push(health);
  }
  finish();
  return points;
};

/** Milliseconds since 1970. A leap second is valid by RFC 3339 but cannot be represented. */
export const instantOf = (time: string, path: string, where?: Issue['in']): number => {
  const ms = Date.parse(time);
  if (!Number.isNaN(ms)) return ms;
  throw invalid([
    { path, code: 'BAD_TIME', message: 'is a time that cannot be represented', ...(where && { in: where }) },
  ]);
};

type TelemetryHandlers = Pick<Handlers<typeof api.agents>, 'metrics' | 'logs'>;
type Level = 'debug' | 'info' | 'warn' | 'error';

const defaultSpanMs = 3_600_000;
const defaultStepSec = 10;
const levels: readonly Level[] = ['debug', 'info', 'warn', 'error'];

interface Deps {
  store: Store;
  agents: Agents;
  mustFind(id: number): Promise<AgentRow>;
}

/** Health and logs of agents. */
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
      const from = start === undefined ? to - defaultSpanMs : instantOf(start, '/from', 'query');
      if (from > to) throw invalid([{ path: '/from', code: 'AFTER_TO', message: 'must not be after to', in: 'query' }]);
      const stepMs = (step ?? defaultStepSec) * 1000;
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
