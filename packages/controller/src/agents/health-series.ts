import type { AgentHealthPoint } from '@rushhour/contract';
import type { AgentHealth } from '@rushhour/protocol';
import type { HealthReading } from '../store/agents/agent-health.ts';

type Interface = AgentHealth['interfaces'][number];

export const pointOf = ({ at, health }: HealthReading): AgentHealthPoint => ({
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
export const seriesOf = async (readings: AsyncIterable<HealthReading>, stepMs: number): Promise<AgentHealthPoint[]> => {
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
