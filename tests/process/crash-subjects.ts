import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, RequestFailed } from '@rushhour/client';
import { connectTestAgent } from '../../packages/controller/src/testing/agent.ts';

/** What writers have at hand, in one life of the controller. */
export interface Life {
  readonly url: string;
  readonly client: Client;
  readonly aiKey: string;
  /** Unique for each writer and life. */
  readonly name: string;
}

/** Writes one kind of record until the controller dies, and later counts what was acknowledged and is gone. */
export interface Subject {
  /** Acknowledged so far. */
  readonly count: number;
  /** One write; throws when the controller is gone. */
  write(life: Life, step: number): Promise<void>;
  /** Of what was acknowledged since the last count, or of all that is known. */
  countLost(life: Life, what: 'new' | 'all'): Promise<number>;
}

/** Only what the controller says it does not have is lost; any other failure ends the harness with its reason. */
const ifThere = async <T>(answer: Promise<T>): Promise<T | undefined> => {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RequestFailed && error.status === 404) return undefined;
    throw error;
  }
};

const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();
const target = [{ ip: '127.0.0.1', ports: '8080' }];

const createTask = async ({ client }: Life, agentId: number, comment: string) => {
  const values = { sources: [{ agent: { id: agentId } }], targets: target, requestsPerSecond: 1 };
  return (await client.tasks.create({ body: { comment, configuration: [{ plugin: { id: 1 }, values }] } })).data;
};

/** Reading everything at the end would take longer than all kills. */
const maxRead = 500;

/** What was acknowledged, by id, and which of it has not been read back yet. */
class Acknowledged<T> {
  readonly #known = new Map<number, T>();
  readonly #unread = new Set<number>();

  get count() {
    return this.#known.size;
  }

  get newestId(): number | undefined {
    return [...this.#known.keys()].at(-1);
  }

  set(id: number, value: T) {
    this.#known.set(id, value);
    this.#unread.add(id);
  }

  /** Until the next answer arrives, the old state or the new one may be stored. */
  forget(id: number) {
    this.#known.delete(id);
    this.#unread.delete(id);
  }

  async countLost(what: 'new' | 'all', isLost: (id: number, value: T) => Promise<boolean>, max = maxRead) {
    const items = [...this.#known].filter(([id]) => what === 'all' || this.#unread.has(id)).slice(-max);
    this.#unread.clear();
    let lost = 0;
    for (const [id, value] of items) if (await isLost(id, value)) lost += 1;
    return lost;
  }
}

/** Projects with their last acknowledged description; undefined for deleted ones. */
export const projectSubject = (): Subject => {
  const known = new Acknowledged<string | undefined>();
  return {
    get count() {
      return known.count;
    },
    write: async ({ client, name }, step) => {
      const description = `${name} ${step}`;
      const { data: id } = await client.projects.create({ body: { name: description, description } });
      known.set(id, description);
      if (step % 3 === 1) {
        known.forget(id);
        await client.projects.update({ body: { ID: id, description: `${description} changed` } });
        known.set(id, `${description} changed`);
      }
      if (step % 5 === 2) {
        known.forget(id);
        await client.projects.removeMany({ body: { array: [id] } });
        known.set(id, undefined);
      }
    },
    countLost: ({ client }, what) =>
      known.countLost(what, async (id, description) => {
        const found = await ifThere(client.projects.get({ params: { id } }));
        return found?.description !== description;
      }),
  };
};

/** Files: the content that was acknowledged can be downloaded. */
export const fileSubject = (): Subject => {
  const known = new Acknowledged<string>();
  return {
    get count() {
      return known.count;
    },
    write: async ({ client, name }, step) => {
      const bytes = randomBytes(1 + Math.floor(Math.random() * 200_000));
      const file = new Blob([bytes]);
      const fields = { category: 'other' as const };
      const { data: id } = await client.files.create({ upload: { fields, file, filename: `${name}-${step}.bin` } });
      known.set(id, createHash('sha256').update(bytes).digest('hex'));
    },
    countLost: ({ client }, what) =>
      known.countLost(what, async (id, sha256) => {
        const response = await ifThere(client.files.download({ params: { id } }));
        const bytes = Buffer.from((await response?.arrayBuffer()) ?? new ArrayBuffer(0));
        return createHash('sha256').update(bytes).digest('hex') !== sha256;
      }),
  };
};

/** Agents: one that was welcomed is known for ever. */
export const agentSubject = (): Subject & { newestId(): number | undefined } => {
  const known = new Acknowledged<string>();
  return {
    get count() {
      return known.count;
    },
    newestId: () => known.newestId,
    write: async ({ client, url, name }, step) => {
      const agentName = `${name}-${step}`;
      const { data } = await client.agents.createToken({ body: { name: agentName, ttlSec: 600, maxUses: 1 } });
      const agent = await connectTestAgent({ url, token: data.token, name: agentName, heartbeat: false });
      known.set(agent.agentId, agentName);
      agent.socket.terminate();
    },
    countLost: ({ client }, what) =>
      known.countLost(what, async (id) => (await ifThere(client.agents.get({ params: { id } }))) === undefined),
  };
};

/** Runs that wait for their time, and runs that were stopped meanwhile. */
export const runSubject = (agentId: () => number | undefined): Subject => {
  const known = new Acknowledged<'queued' | 'stopped'>();
  return {
    get count() {
      return known.count;
    },
    write: async (life, step) => {
      const agent = agentId();
      if (agent === undefined) return sleep(20);
      const id = await createTask(life, agent, `${life.name} run ${step}`);
      await life.client.tasks.start({ params: { id }, body: { at: tomorrow() } });
      known.set(id, 'queued');
      if (step % 3 !== 1) return;
      known.forget(id);
      await life.client.tasks.stop({ params: { id }, body: {} });
      known.set(id, 'stopped');
    },
    countLost: ({ client }, what) =>
      known.countLost(what, async (id, state) => {
        const { data } = await client.tasks.get({ params: { id } });
        return state === 'queued' ? data.status !== 1 : data.status !== 8;
      }),
  };
};

/** Schedules that were made, and those that were removed. */
export const scheduleSubject = (agentId: () => number | undefined): Subject => {
  const known = new Acknowledged<boolean>();
  return {
    get count() {
      return known.count;
    },
    write: async (life, step) => {
      const agent = agentId();
      if (agent === undefined) return sleep(20);
      const id = await createTask(life, agent, `${life.name} schedule ${step}`);
      await life.client.tasks.schedule({ body: { id, cron: '0 3 1 1 *' } });
      known.set(id, true);
      if (step % 3 !== 1) return;
      known.forget(id);
      await life.client.tasks.unschedule({ params: { id } });
      known.set(id, false);
    },
    countLost: ({ client }, what) =>
      known.countLost(what, async (id, isThere) => {
        const { data } = await client.tasks.schedules({ query: { taskID: id } });
        return data.length > 0 !== isThere;
      }),
  };
};

const pageSize = 100;

/** Approvals that AI keys asked for, and decisions about them. */
export const approvalSubject = (agentId: () => number | undefined): Subject => {
  const known = new Acknowledged<{ state: string; taskId: number }>();
  return {
    get count() {
      return known.count;
    },
    write: async (life, step) => {
      const agent = agentId();
      if (agent === undefined) return sleep(20);
      const taskId = await createTask(life, agent, `${life.name} approval ${step}`);
      const response = await fetch(`${life.url}/v1/ai/gateway/tasks/actions`, {
        method: 'POST',
        headers: { 'x-api-key': life.aiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ action: 'delete', taskIds: [taskId], reason: 'to see it kept' }),
      });
      const { data } = (await response.json()) as { data: { approval?: { id: number }; id?: number } };
      const id = data.approval?.id ?? data.id;
      if (id === undefined) throw new Error(`no approval: ${JSON.stringify(data)}`);
      known.set(id, { state: 'pending', taskId });
      if (step % 2 !== 1) return;
      known.forget(id);
      await life.client.aiAdmin.decide({ body: { array: [id], decision: 'reject', comment: 'no' } });
      known.set(id, { state: 'rejected', taskId });
    },
    countLost: async ({ client }, what) => {
      const query = { kind: 'approval', count: pageSize, order: 'desc' } as never;
      const { data } = (await client.aiAdmin.activity({ query })) as unknown as {
        data: { id: number; state: string }[];
      };
      const stored = new Map(data.map(({ id, state }) => [id, state]));
      // The page also has those whose answers were lost with the controller.
      return known.countLost(what, async (id, { state }) => stored.get(id) !== state, pageSize / 2);
    },
  };
};
