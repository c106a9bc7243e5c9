import type { Logger } from 'pino';
import { type HealthReading, keepHealth } from '../../store/agents/agent-health.ts';
import { keepSightings, type Sighting } from '../../store/agents/agents.ts';
import { type Presence, statusOf } from './presence.ts';
import type { Registry } from './registry.ts';
import type { WriteBatch } from './write-batch.ts';

const everyMs = 10_000;

/** Writes now and then, for all agents together, when they were last heard and how their machines are. */
export const startPulse = (registry: Registry, batch: WriteBatch, log: Logger) => {
  const flush = async () => {
    const seen = [...registry.all()].filter(({ isFresh }) => isFresh).map(sightingOf);
    const readings = [...registry.all()].flatMap(readingOf);
    if (seen.length === 0 && readings.length === 0) return;
    await batch
      .write(async (tx) => {
        if (seen.length > 0) await keepSightings(tx, seen);
        if (readings.length > 0) await keepHealth(tx, readings);
      })
      .catch((error) => log.error({ err: error }, 'the health of agents was not written'));
  };
  const timer = setInterval(() => void flush(), everyMs);
  return {
    stop: async () => {
      clearInterval(timer);
      await flush();
    },
  };
};

const sightingOf = (presence: Presence): Sighting => {
  presence.isFresh = false;
  return {
    id: presence.agentId,
    lastSeenAt: new Date(Date.now() - (performance.now() - presence.heardAt)).toISOString(),
    clockOffsetMs: presence.clockOffsetMs,
    roundTripMs: presence.roundTripMs,
    status: statusOf(presence),
  };
};

const readingOf = ({ agentId: agentID, health }: Presence): HealthReading[] => {
  if (health === undefined || health.isStored) return [];
  health.isStored = true;
  return [{ agentID, at: health.at, health: health.reading }];
};
