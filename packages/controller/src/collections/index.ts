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
import { agentHandlers } from './agents/index.ts';
import { aiAdminHandlers } from './ai-admin.ts';
import { aiGatewayHandlers } from './ai-gateway/index.ts';
import { applicationHandlers } from './applications/handlers.ts';
import { authHandlers } from './auth.ts';
import { certificateHandlers } from './certificates/index.ts';
import { dictionaryHandlers } from './dictionaries.ts';
import type { FileService } from './files/file-service.ts';
import { fileHandlers } from './files/index.ts';
import { groupHandlers } from './groups.ts';
import { macHandlers } from './macs.ts';
import { malwareHandlers } from './malware/index.ts';
import { metaHandlers } from './meta.ts';
import { networkHandlers } from './networks.ts';
import { notificationHandlers } from './notifications.ts';
import { projectHandlers } from './projects.ts';
import { createRecordRules } from './record-rules.ts';
import { settingHandlers } from './settings.ts';
import { taskTemplateHandlers } from './task-templates.ts';
import { taskHandlers } from './tasks/index.ts';
import { tunnelHandlers } from './tunnels.ts';
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

/** One line for each collection of the contract. */
export const createHandlers = (services: Services): AllHandlers => {
  const records = recordHandlers(services);
  return {
    ...records,
    aiAdmin: aiAdminHandlers(services),
    aiGateway: aiGatewayHandlers({ ...services, records }),
  };
};

const recordHandlers = (services: Services): Omit<AllHandlers, 'aiAdmin' | 'aiGateway'> => ({
  agents: agentHandlers(services),
  applications: applicationHandlers(services),
  auth: authHandlers(services),
  certificates: certificateHandlers(services),
  dictionaries: dictionaryHandlers(services),
  files: fileHandlers({ ...services, agentFiles: services.agents.files }),
  groups: groupHandlers(services),
  macs: macHandlers(services),
  malware: malwareHandlers(services),
  meta: metaHandlers(services),
  networks: networkHandlers(services),
  notifications: notificationHandlers(services),
  projects: projectHandlers(services),
  settings: settingHandlers(services),
  tasks: taskHandlers({ ...services, rules: createRecordRules(services) }),
  taskTemplates: taskTemplateHandlers(services),
  tunnels: tunnelHandlers(services),
  users: userHandlers(services),
});
