import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { localBus } from './bus/local.ts';
import { postgresBus } from './bus/postgres.ts';
import { ensureBuiltinDictionaries } from './collections/dictionaries/ensure-builtin.ts';
import type { Config } from './config.ts';
import { prepareFirstStart } from './first-start.ts';
import { createHealth } from './health.ts';
import { startHousekeeping } from './housekeeping.ts';
import { buildApp } from './http/app.ts';
import { sweepIdempotencyKeys } from './http/idempotency.ts';
import { sweepSessions } from './identity/sessions.ts';
import { openStore } from './store/index.ts';
import { sweepNotifications } from './store/notifications.ts';
import { loadSettings } from './store/settings.ts';

const hourMs = 3_600_000;

/** Starts everything in order; `close` stops it in reverse. */
export const startController = async (config: Config) => {
  const log = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: true }));
  const store = await openStore(config);
  const bus = config.databaseUrl ? await postgresBus(config.databaseUrl, log) : localBus();
  const settings = await loadSettings(store.read, store.secrets, bus);
  const credentials = await prepareFirstStart(store, config.admin);
  await ensureBuiltinDictionaries(store);
  const housekeeping = startHousekeeping(
    [
      { name: 'sessions', everyMs: hourMs, run: () => store.database.transaction(sweepSessions) },
      { name: 'idempotency keys', everyMs: hourMs, run: () => sweepIdempotencyKeys(store) },
      {
        name: 'notifications',
        everyMs: hourMs,
        run: () => sweepNotifications(store.database, settings.current().retention.notificationsDays),
      },
    ],
    log,
  );
  const health = createHealth({ store, dataDir: config.dataDir, isSchedulerAlive: housekeeping.isAlive });
  const app = await buildApp({ log, tls: config.tls, store, settings, bus, health });
  const close = async () => {
    health.setReady(false);
    await app.close();
    await housekeeping.stop();
    await bus.close();
    await store.close();
  };
  try {
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    await close();
    throw error;
  }
  health.setReady(true);
  const { port } = app.server.address() as AddressInfo;
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return { url: `${config.tls ? 'https' : 'http'}://${host}:${port}`, credentials, store, settings, bus, log, close };
};

export type Controller = Awaited<ReturnType<typeof startController>>;
