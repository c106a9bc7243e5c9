import { Readable } from 'node:stream';
import { LogLine } from '@rushhour/protocol';
import { Type } from 'typebox';
import { createSchemaCheck } from '../schema-check.ts';
import type { AgentRow } from '../store/agents/agents.ts';
import { type ActionDeps, type Operation, reportOperation } from './operation-report.ts';

const collectMs = 60_000;
const linesCheck = createSchemaCheck(Type.Array(LogLine), 'first');

const textOf = (lines: readonly LogLine[]) =>
  lines
    .map(({ ts, level, source, message }) => `${new Date(ts).toISOString()} ${level.padEnd(5)} ${source}: ${message}\n`)
    .join('');

/** Asks one agent for the log on its disk and keeps it as a file; answers the file's id. */
const collectFrom = async (
  { agents, store, files }: ActionDeps,
  agent: AgentRow,
  { operationId, userID }: Operation,
) => {
  const lines = await agents.everywhere.ask(agent.id, { kind: 'collectLogs' }, collectMs);
  const [issue] = linesCheck(lines);
  if (issue) throw new Error(`it answered no log lines: ${issue.path} ${issue.message}`);
  const staged = await files.blobs.stage(Readable.from([Buffer.from(textOf(lines as LogLine[]))]));
  const origin = { userId: userID, address: '', requestId: operationId, operation: 'agents.actions' };
  const day = new Date().toISOString().slice(0, 10);
  return files.keep([staged], () =>
    store.change(origin, (tx) =>
      files.insert(tx, staged, {
        name: `agent-${agent.id}-${day}.log`,
        category: 'other',
        kind: 'text',
        mime: 'text/plain',
        source: 'generated',
        tags: 'agent-log',
      }),
    ),
  );
};

/** Collects the logs of agents, each into a file, and tells who asked. Never throws. */
export const collectLogs = (deps: ActionDeps, operation: Operation, agents: readonly AgentRow[]) =>
  Promise.all(
    agents.map(async (agent) => {
      const about = { kind: 'agent.logs' };
      try {
        const id = await collectFrom(deps, agent, operation);
        const message = `Logs of agent "${agent.name}" are in file ${id}`;
        await reportOperation(deps, operation, { ...about, severity: 'info', message, entity: { type: 'file', id } });
      } catch (error) {
        const message = `Logs of agent "${agent.name}" could not be collected: ${(error as Error).message}`;
        const entity = { type: 'agent', id: agent.id };
        await reportOperation(deps, operation, { ...about, severity: 'error', message, entity });
      }
    }),
  ).catch((error) => deps.agents.log.error({ err: error }, 'collecting logs could not be reported'));
