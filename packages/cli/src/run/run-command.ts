import { Command, Option } from 'commander';
import { addConnectionOptions, addOutputOption, connectionOf } from '../common-options.ts';
import { connect, refreshingClient } from '../connection/connection.ts';
import { exitCodeHelp } from '../exit-codes.ts';
import type { Digest } from '../routes/route-digest.ts';
import { parseThreshold } from './parse-threshold.ts';
import { type RunOptions, reportFormats } from './run-options.ts';
import { parseStage } from './stages.ts';

const examples = `
A subject is the id of a task, a task file (docs/cli.md), or the name of a template
(\`rushhour task-templates all\`). A definition that is unchanged runs as the same task again.

Examples:
  rushhour run 'HTTP requests per second' --agents client=edge-1,server=edge-2 --param rps=100 --param seconds=30 \\
    --threshold 'p99(http.latency)<20ms' --threshold 'errors==0 abort' --junit out.xml --html out.html
  rushhour run task.yaml --stage 30s:100 --stage 1m:500
  rushhour run 12 -o json

${exitCodeHelp}`;

const collect =
  <T>(parse: (text: string) => T) =>
  (text: string, before: readonly T[]) => [...before, parse(text)];
const text = (given: string) => given;

const addRunOptions = (command: Command) => {
  const repeated = <T>(flags: string, description: string, parse: (given: string) => T) =>
    command.addOption(new Option(flags, description).argParser(collect(parse)).default([], 'none'));
  repeated('--agents <slot=agent,…>', 'agents for the slots of a template, by name or id', text);
  repeated('--param <name=value>', 'a parameter of a template; repeatable', text);
  repeated('--stage <time:rate>', 'a part of the run at this rate, such as 30s:500; repeatable', parseStage);
  repeated('--threshold <text>', "what must hold, such as 'p99(http.latency)<20ms'; repeatable", parseThreshold);
  repeated('--label <name=value>', 'a label of the run; repeatable', text);
  command
    .option('--comment <text>', 'name of the task that is made')
    .option('--project <name>', 'project of the task that is made')
    .option('--reason <text>', 'why; hazardous tests ask for it')
    .option('-q, --quiet', 'no live line');
  for (const format of reportFormats) command.option(`--${format} <file>`, `write the ${format} report to this file`);
};

/** Runs a test to its end and ends with a code that says how it went. */
export const runCommand = (digest: Digest): Command => {
  const command = new Command('run')
    .description('run a template, a task file or a stored task to its end')
    .argument('<subject>', 'a template, a task file, or the id of a task')
    .addHelpText('after', examples);
  addRunOptions(command);
  addOutputOption(command);
  addConnectionOptions(command);
  return command.action(async (subject: string, options: RunOptions) => {
    const connection = await connect(digest, connectionOf(command));
    // The rest is loaded only now: other commands start without it.
    const { runToEnd } = await import('./run-task.ts');
    const [client, { url }, output] = [refreshingClient(connection), connection, options.output ?? 'table'];
    process.exitCode = await runToEnd({ client, url, subject, options, output });
  });
};
