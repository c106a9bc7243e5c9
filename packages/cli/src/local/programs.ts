import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';

/** Controller and agent are programs of their own; this one passes signals on and ends as they do. */
const runProgram = (file: string, args: readonly string[]) =>
  new Promise<void>((resolve) => {
    const path = fileURLToPath(new URL(`../../../${file}`, import.meta.url));
    const child = spawn(process.execPath, [path, ...args], { stdio: 'inherit' });
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
    child.on('exit', (code) => {
      process.exitCode = code ?? 1;
      resolve();
    });
  });

const startHelp = `
It is configured by the environment; the most important variables:
  RUSHHOUR_HOST, RUSHHOUR_PORT   listen address and port (127.0.0.1, 8080)
  RUSHHOUR_DATA_DIR              database, files and key (./data)
  RUSHHOUR_LOCAL_AGENTS          agents started with it, 0 to 16 (2)
  RUSHHOUR_PUBLIC_URL            the address by which others reach it
  DATABASE_URL, S3_URL           PostgreSQL and S3 instead of the data folder
The README lists all of them.`;

/** Arguments of the agent are its own, --help included. */
const agentCommand = () =>
  new Command('agent')
    .description('an agent on this machine')
    .helpOption(false)
    .allowUnknownOption()
    .argument('[options...]')
    .action((args: string[]) => runProgram('agent/src/main.ts', args));

const auditCommand = () => {
  const program = 'controller/src/audit-command.ts';
  const audit = new Command('audit').description('the audit chain of the data folder or DATABASE_URL, only read');
  audit
    .command('verify')
    .description('check the whole chain; exit code 1 when it is broken')
    .option('--checkpoints <file...>', 'compare it with checkpoints kept elsewhere')
    .action(({ checkpoints = [] }: { checkpoints?: string[] }) =>
      runProgram(program, ['verify', ...checkpoints.flatMap((file) => ['--checkpoints', file])]),
    );
  audit
    .command('checkpoint')
    .description('print the state of the chain, to be kept elsewhere')
    .action(() => runProgram(program, ['checkpoint']));
  return audit;
};

const backupCommands = () =>
  [
    [
      'backup',
      'copy database, files and key of the data folder or DATABASE_URL to a folder, while the controller runs',
    ],
    ['restore', 'put a backup into an empty data folder or database; the controller must not run'],
  ].map(([name = '', description = '']) =>
    new Command(name)
      .description(description)
      .argument('<folder>', 'the folder of the backup')
      .action((folder: string) => runProgram('controller/src/backup-command.ts', [name, folder])),
  );

/** Commands that run on this machine instead of calling a controller. */
export const localCommands = (): Command[] => [
  new Command('start')
    .description('the controller and its local agents, in the foreground')
    .addHelpText('after', startHelp)
    .action(() => runProgram('controller/src/main.ts', [])),
  agentCommand(),
  auditCommand(),
  ...backupCommands(),
];
