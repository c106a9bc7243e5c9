import type { AiKeyDraft, AiScope } from '@rushhour/contract';
import type { Config } from '../../../config.ts';
import { storeAgent } from '../../../tasks/testing/stored-agent.ts';
import { type SignedIn, startTestController } from '../../../testing/controller.ts';

const everyScope: AiScope[] = [
  'state:read',
  'agents:read',
  'resources:read',
  'tasks:read',
  'results:read',
  'drafts:write',
  'tasks:create',
  'tasks:start',
  'tasks:control',
  'tasks:delete',
  'audit:read',
];
const noLimits = {
  ...{ requestsPerMin: 100_000, writesPerMin: 100_000, parallel: 1000, approvalsPerHour: 100_000 },
  ...{ pendingApprovals: 1000, startsPerDay: 1_000_000, agentSecondsPerDay: 1e12 },
};

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect
  data: any;
  body: unknown;
  headers: Headers;
}

/** Calls the gateway with a key. */
export const callerWith =
  (url: string, secret: string) =>
  async (method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> => {
    const response = await fetch(`${url}/v1/ai/gateway${path}`, {
      method,
      headers: { 'x-api-key': secret, ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as { data: unknown };
    return { status: response.status, data: answer.data, body: answer, headers: response.headers };
  };
export type GatewayCall = ReturnType<typeof callerWith>;

/** A controller with one agent that nobody runs, so that what is started waits in the queue. */
export const startGatewayLab = async (overrides: Partial<Config> = {}) => {
  const controller = await startTestController(overrides);
  const administrator = await controller.signIn();
  const agentId = await storeAgent(controller.store);
  let count = 0;

  const newKey = async (draft: Partial<AiKeyDraft> = {}, owner: SignedIn = administrator) => {
    count += 1;
    const { constraints = {}, ...rest } = draft;
    const { data } = await owner.client.aiAdmin.createKey({
      body: {
        ...{ name: `key ${count}`, scopes: everyScope, limits: noLimits, ...rest },
        constraints: { maxConcurrentTasks: 1000, ...constraints },
      },
    });
    return { id: data.key.id, secret: data.secret, call: callerWith(controller.url, data.secret) };
  };

  const newTask = async (values: object = {}, draft: object = {}) => {
    const ends = { sources: [{ agent: { id: agentId } }], targets: [{ agent: { id: agentId } }] };
    const duration = { mode: 'time', seconds: 60 };
    const configuration = [{ plugin: { id: 1 }, values: { ...ends, requestsPerSecond: 10, duration, ...values } }];
    return (await administrator.client.tasks.create({ body: { configuration, ...draft } as never })).data;
  };

  const runsOf = async (id: number) =>
    (await administrator.client.tasks.runs({ params: { id }, query: {} })).data.length;

  return { controller, administrator, agentId, newKey, newTask, runsOf, close: controller.close };
};
export type GatewayLab = Awaited<ReturnType<typeof startGatewayLab>>;
