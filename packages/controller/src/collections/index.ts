import { api } from '@rushhour/contract';
import type { Agents } from '../agents/agents.ts';
import type { Approvals } from '../ai/approvals.ts';
import type { Drafts } from '../ai/drafts.ts';
import type { Bus } from '../bus/local.ts';
import type { AllHandlers } from '../handlers.ts';
import type { Health } from '../health.ts';
import type { Vault } from '../malware/vault.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Runs } from '../runs/create-runs.ts';
import type { TaskPlanner } from '../runs/plan/create-planner.ts';
import type { Calendar } from '../runs/schedules/calendar.ts';
import type { Store } from '../store/index.ts';
import type { SettingsStore } from '../store/settings.ts';
import { authHandlers } from './auth.ts';
import type { FileService } from './files/file-service.ts';
import { groupHandlers } from './groups.ts';
import { createLoader, type Later } from './later.ts';
import { metaHandlers } from './meta.ts';
import { notificationHandlers } from './notifications.ts';
import { projectHandlers } from './projects.ts';
import { settingHandlers } from './settings.ts';
import { userHandlers } from './users.ts';

/** Everything handlers may need; each factory names its share. */
export interface Services {
  store: Store;
  settings: SettingsStore;
  bus: Bus;
  health: Health;
  files: FileService;
  agents: Agents;
  planner: TaskPlanner;
  calendar: Calendar;
  metrics: Metrics;
  runs: Runs;
  approvals: Approvals;
  drafts: Drafts;
  vault: Vault;
}

/** One line for each collection of the contract. Only what every start needs is read at once. */
export const createHandlers = (services: Services): { handlers: AllHandlers; loadAll(): Promise<void> } => {
  const { later, loadAll } = createLoader();
  const records = recordHandlers(services, later);
  const handlers = {
    ...records,
    aiAdmin: later(api.aiAdmin, async () => (await import('./ai-admin.ts')).aiAdminHandlers(services)),
    aiGateway: later(api.aiGateway, async () =>
      (await import('./ai-gateway/index.ts')).aiGatewayHandlers({ ...services, records }),
    ),
  };
  return { handlers, loadAll };
};

const recordHandlers = (services: Services, later: Later): Omit<AllHandlers, 'aiAdmin' | 'aiGateway'> => ({
  agents: later(api.agents, async () => (await import('./agents/index.ts')).agentHandlers(services)),
  applications: later(api.applications, async () =>
    (await import('./applications/handlers.ts')).applicationHandlers(services),
  ),
  auth: authHandlers(services),
  certificates: later(api.certificates, async () =>
    (await import('./certificates/index.ts')).certificateHandlers(services),
  ),
  compromisedHost: later(api.compromisedHost, async () =>
    (await import('./compromised-host.ts')).compromisedHostHandlers(services),
  ),
  cve: later(api.cve, async () => {
    const [{ cveHandlers }, { createTask }] = await Promise.all([
      import('./cve/handlers.ts'),
      import('./tasks/write-task.ts'),
    ]);
    const { secrets } = services.store;
    return cveHandlers({ ...services, createTask: (tx, draft) => createTask(tx, secrets, draft) });
  }),
  dictionaries: later(api.dictionaries, async () => (await import('./dictionaries.ts')).dictionaryHandlers(services)),
  files: later(api.files, async () =>
    (await import('./files/index.ts')).fileHandlers({ ...services, agentFiles: services.agents.files }),
  ),
  groups: groupHandlers(services),
  macs: later(api.macs, async () => (await import('./macs.ts')).macHandlers(services)),
  malware: later(api.malware, async () => (await import('./malware/index.ts')).malwareHandlers(services)),
  meta: metaHandlers(services),
  networks: later(api.networks, async () => (await import('./networks.ts')).networkHandlers(services)),
  notifications: notificationHandlers(services),
  projects: projectHandlers(services),
  settings: settingHandlers(services),
  tasks: later(api.tasks, async () => {
    const [{ taskHandlers }, { createRecordRules }] = await Promise.all([
      import('./tasks/index.ts'),
      import('./record-rules.ts'),
    ]);
    return taskHandlers({ ...services, rules: createRecordRules(services) });
  }),
  taskTemplates: later(api.taskTemplates, async () =>
    (await import('./task-templates.ts')).taskTemplateHandlers(services),
  ),
  tunnels: later(api.tunnels, async () => (await import('./tunnels.ts')).tunnelHandlers(services)),
  users: userHandlers(services),
});
