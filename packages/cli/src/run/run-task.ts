import { writeFileSync } from 'node:fs';
import type { Client } from '@rushhour/client/routes';
import type { RunResult, Threshold } from '@rushhour/contract';
import { exitCodes } from '../exit-codes.ts';
import { type OutputFormat, printReply, write } from '../output/print.ts';
import { assignments } from './assignments.ts';
import { followRun, liveLine } from './follow-run.ts';
import { type RunOptions, reportFormats } from './run-options.ts';
import { resolveSubject } from './run-subject.ts';
import { summaryText } from './summary.ts';

/** Thresholds of this run: those of the file or the stored task, and those of the command line. */
const thresholdsFor = async (
  client: Client,
  id: number,
  fromFile: readonly Threshold[] | undefined,
  given: readonly Threshold[],
) => {
  if (given.length === 0) return fromFile;
  const stored = fromFile ?? (await client.tasks.thresholds({ params: { id } })).data;
  return [...stored.filter(({ name }) => !given.some((other) => other.name === name)), ...given];
};

const saveReports = async (client: Client, { taskID, id }: RunResult, options: RunOptions) => {
  for (const format of reportFormats) {
    const file = options[format];
    if (file === undefined) continue;
    const report = await client.tasks.report({ params: { id: taskID, runId: id }, query: { format } });
    writeFileSync(file, new Uint8Array(await report.arrayBuffer()));
  }
};

/** The exit code a run stands for. */
export const codeOf = ({ status, verdict }: Pick<RunResult, 'status' | 'verdict'>): number => {
  if (verdict === 2) return exitCodes.thresholdsFailed;
  if (status === 9) return exitCodes.runFailed;
  if (verdict === 3) return exitCodes.inconclusive;
  return status === 7 || verdict === 1 ? exitCodes.ok : exitCodes.runFailed;
};

/** The first interrupt stops the run and waits for its end, the second ends this program. */
const stopOnSignal = (client: Client, id: number) => {
  let isInterrupted = false;
  const stop = () => {
    if (isInterrupted) process.exit(exitCodes.interrupted);
    isInterrupted = true;
    process.stderr.write('\nstopping the run; once more ends without waiting\n');
    client.tasks.stop({ params: { id }, body: { reason: 'interrupted on the command line' } }).catch(() => {});
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return () => isInterrupted;
};

const startRun = async (client: Client, subject: string, options: RunOptions) => {
  const { comment, project, reason, stage: stages, label } = options;
  const { taskId, thresholds: fromFile } = await resolveSubject(client, {
    subject,
    agents: Object.fromEntries(assignments('agents', options.agents, true)),
    parameters: Object.fromEntries(assignments('param', options.param, false)),
    stages,
    ...(comment !== undefined && { comment }),
    ...(project !== undefined && { project }),
  });
  const thresholds = await thresholdsFor(client, taskId, fromFile, options.threshold);
  const labels = Object.fromEntries(assignments('label', label, false));
  const body = { ...(thresholds && { thresholds: [...thresholds] }), ...(reason && { reason }), labels };
  const { data } = await client.tasks.start({ params: { id: taskId }, body });
  return { taskId, runId: data.runId };
};

interface RunCall {
  readonly client: Client;
  readonly url: string;
  readonly subject: string;
  readonly options: RunOptions;
  readonly output: OutputFormat;
}

/** Runs the subject to its end, prints the result and returns the exit code. */
export const runToEnd = async ({ client, url, subject, options, output }: RunCall): Promise<number> => {
  const { taskId, runId } = await startRun(client, subject, options);
  if (!options.quiet) process.stderr.write(`task ${taskId}, run ${runId}: ${url}/tasks/${taskId}/runs/${runId}\n`);
  const isInterrupted = stopOnSignal(client, taskId);
  const line = liveLine(options.quiet === true);
  await followRun({ client, taskId, stages: options.stage, line });
  const { data: result } = await client.tasks.run({ params: { id: taskId, runId } });
  await (output === 'table' ? write(`${summaryText(result, url)}\n`) : printReply(result, output));
  await saveReports(client, result, options);
  return isInterrupted() ? exitCodes.interrupted : codeOf(result);
};
