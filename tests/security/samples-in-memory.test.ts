import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eicarBytes } from '../../packages/controller/src/security/malware/generate/contents.ts';
import { type AgentProcess, type System, startSystem, until, untilStatus } from '../system/system.ts';
import { childrenOf, countInMemory } from './memory-scan.ts';

let system: System;
let agents: AgentProcess[];
beforeAll(async () => {
  system = await startSystem();
  agents = [await system.addAgent('outside'), await system.addAgent('inside')];
});
afterAll(() => system?.close());

const pidOf = ({ process: { pid } }: AgentProcess) => pid as number;
const sample = eicarBytes();

describe('samples on agents', () => {
  it('are decrypted only in the process of the run, and disappear with it', async () => {
    const { client } = system;
    const [outside, inside] = agents as [AgentProcess, AgentProcess];
    const { data } = await client.malware.generate({ body: { kind: 'eicar', container: ['none'] } });
    const values = {
      sources: [{ agent: { id: outside.id } }],
      targets: [{ agent: { id: inside.id } }],
      malwareFiles: data.ids,
      payload: {
        delivery: [{ protocol: 'http', direction: 'download' }],
        ...{ ratePerSecond: 2, concurrency: 1, repeat: 200, benignEvery: 0 },
      },
    };
    const task = { comment: 'samples', configuration: [{ plugin: { id: 17 }, values }] };
    const { data: id } = await client.tasks.create({ body: task as never });
    const { data: run } = await client.tasks.start({ params: { id } });
    await untilStatus(client, id, [4]);

    const workers = await until('an open sample in the processes of the run', async () => {
      const found = agents.flatMap((agent) => childrenOf(pidOf(agent)));
      return found.length === 2 && found.some((pid) => countInMemory(pid, sample) > 0) && found;
    });
    for (const agent of agents) expect(countInMemory(pidOf(agent), sample)).toBe(0);

    await client.tasks.stop({ params: { id }, body: {} });
    await untilStatus(client, id, [7, 8, 9]);
    await until('the processes of the run to end', async () => workers.every((pid) => !existsSync(`/proc/${pid}`)));
    for (const agent of agents) expect(countInMemory(pidOf(agent), sample)).toBe(0);
    const { data: result } = await client.tasks.run({ params: { id, runId: run.runId }, query: {} });
    expect(result.status).toBe(8);
  });
});
