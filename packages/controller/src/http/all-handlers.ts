import { api, type Collection } from '@rushhour/contract';
import type { Logger } from 'pino';
import type { Agents } from '../agents/gateway/agents.ts';
import type { Installer } from '../agents/installer.ts';
import type { Approvals } from '../ai/approvals/approvals.ts';
import type { Drafts } from '../ai/drafts/drafts.ts';
import type { FileService } from '../assets/files/file-service.ts';
import type { Bus } from '../bus/local.ts';
import type { AllHandlers, Handlers } from '../handler.ts';
import type { Exporter } from '../metrics/export/exporter.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { authHandlers } from '../people/auth/handlers.ts';
import { groupHandlers } from '../people/groups/handlers.ts';
import { userHandlers } from '../people/users/handlers.ts';
import type { TaskPlanner } from '../plan/core/create-planner.ts';
import type { Runs } from '../runs/lifecycle/create-runs.ts';
import type { Calendar } from '../runs/schedules/calendar.ts';
import type { Vault } from '../security/malware/vault.ts';
import type { Store } from '../store/store.ts';
import type { SettingsStore } from '../store/system/settings.ts';
import type { Health } from '../system/health.ts';
import { metaHandlers } from '../system/meta/handlers.ts';
import { notificationHandlers } from '../system/notifications/handlers.ts';
import { projectHandlers } from '../system/projects/handlers.ts';
import { settingHandlers } from '../system/settings/handlers.ts';

type AnyHandlers = Record<string, (request: unknown, caller: unknown) => unknown>;

type Later = <C extends Collection>(collection: C, load: () => Promise<Handlers<C>>) => Handlers<C>;

/**
 * Collections whose code is loaded by the first request that needs it, or by `loadAll` once the controller is ready, so
 * that starting the controller does not wait for them.
 */
const createLoader = () => {
  const loads: (() => Promise<unknown>)[] = [];

  const later: Later = <C extends Collection>({ routes }: C, load: () => Promise<Handlers<C>>) => {
    let handlers: AnyHandlers | undefined;
    let loading: Promise<AnyHandlers> | undefined;
    const loaded = () => {
      loading ??= load().then((all) => {
        handlers = all as unknown as AnyHandlers;
        return handlers;
      });
      return loading;
    };
    loads.push(loaded);
    const handlerOf =
      (key: string) =>
      (request: unknown, caller: unknown): unknown =>
        handlers === undefined ? loaded().then((all) => all[key]?.(request, caller)) : handlers[key]?.(request, caller);
    return Object.fromEntries(Object.keys(routes).map((key) => [key, handlerOf(key)])) as unknown as Handlers<C>;
  };

  const loadAll = async () => {
    for (const load of loads) await load();
  };
  return { later, loadAll };
};

/** All services handlers may need; each factory names the ones it uses. */
export interface Services {
  log: Pick<Logger, 'info' | 'warn'>;
  store: Store;
  settings: SettingsStore;
  bus: Bus;
  health: Health;
  files: FileService;
  agents: Agents;
  installer: Installer;
  planner: TaskPlanner;
  calendar: Calendar;
  metrics: Metrics;
  exporter: Exporter;
  runs: Runs;
  approvals: Approvals;
  drafts: Drafts;
  vault: Vault;
}

/** One line for each collection of the contract. Only code that every start needs is loaded immediately. */
export const createHandlers = (services: Services): { handlers: AllHandlers; loadAll(): Promise<void> } => {
  const { later, loadAll } = createLoader();
  const records = recordHandlers(services, later);
  const handlers = {
    ...records,
    aiAdmin: later(api.aiAdmin, async () => (await import('../ai/keys/handlers.ts')).aiAdminHandlers(services)),
    aiGateway: later(api.aiGateway, async () =>
      (await import('../ai/gateway/handlers.ts')).aiGatewayHandlers({ ...services, records }),
    ),
  };
  return { handlers, loadAll };
};

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table: one line for each collection
const recordHandlers = (services: Services, later: Later): Omit<AllHandlers, 'aiAdmin' | 'aiGateway'> => ({
  agents: later(api.agents, async () => (await import('../agents/handlers.ts')).agentHandlers(services)),
  applications: later(api.applications, async () =>
    (await import('../assets/applications/handlers.ts')).applicationHandlers(services),
  ),
  auth: authHandlers(services),
  certificates: later(api.certificates, async () =>
    (await import('../assets/certificates/handlers.ts')).certificateHandlers(services),
  ),
  compromisedHost: later(api.compromisedHost, async () =>
    (await import('../security/campaigns/handlers.ts')).compromisedHostHandlers(services),
  ),
  cve: later(api.cve, async () => {
    const [{ cveHandlers }, { testSignature }] = await Promise.all([
      import('../security/signatures/handlers.ts'),
      import('../tasks/try-signature.ts'),
    ]);
    return cveHandlers({ ...services, testSignature: (...test) => testSignature(services, ...test) });
  }),
  dictionaries: later(api.dictionaries, async () =>
    (await import('../assets/dictionaries/handlers.ts')).dictionaryHandlers(services),
  ),
  files: later(api.files, async () => {
    const [{ fileHandlers }, { settleAlerts }] = await Promise.all([
      import('../assets/files/handlers.ts'),
      import('../security/verdicts/settle-run.ts'),
    ]);
    const { store, files, agents } = services;
    const onComplete = (fileId: number) => settleAlerts({ store, blobs: files.blobs }, fileId);
    return fileHandlers({ ...services, agentFiles: agents.files, onComplete });
  }),
  groups: groupHandlers(services),
  macs: later(api.macs, async () => (await import('../assets/macs/handlers.ts')).macHandlers(services)),
  malware: later(api.malware, async () => (await import('../security/malware/handlers.ts')).malwareHandlers(services)),
  meta: metaHandlers(services),
  networks: later(api.networks, async () => (await import('../assets/networks/handlers.ts')).networkHandlers(services)),
  notifications: notificationHandlers(services),
  projects: projectHandlers(services),
  settings: settingHandlers(services),
  tasks: later(api.tasks, async () => {
    const [{ taskHandlers }, { createRecordRules }] = await Promise.all([
      import('../tasks/handlers.ts'),
      import('../tasks/transfer/import/collection-rules.ts'),
    ]);
    return taskHandlers({ ...services, rules: createRecordRules(services) });
  }),
  taskTemplates: later(api.taskTemplates, async () =>
    (await import('../tasks/templates/handlers.ts')).taskTemplateHandlers(services),
  ),
  tunnels: later(api.tunnels, async () => (await import('../assets/tunnels/handlers.ts')).tunnelHandlers(services)),
  users: userHandlers(services),
});
