import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJoinToken } from '@rushhour/protocol';
import { Agent, type Ending } from '../agent.ts';
import { type AgentConfig, ConfigError } from '../config.ts';
import { Log, printTo } from '../log/log.ts';
import { LogFile } from '../log/log-file.ts';
import { LogShipper } from '../log/log-shipper.ts';
import { machineIdOf } from '../machine/machine-id.ts';
import { Refusal } from '../session/handshake.ts';
import { Identity } from '../session/identity.ts';
import { launch, restartCode } from '../upgrade/launcher.ts';
import { Versions } from '../upgrade/versions.ts';
import { agentVersion } from '../version.ts';
import { claimFolder } from './instance-lock.ts';
import { onParentExit } from './parent-watch.ts';

const refusedCode = 77;

// A terminal and the parent process may both forward the same signal.
const sameSignalMs = 1000;

/** The first signal ends runs gracefully and keeps their results; a later one exits immediately. */
const endOnSignal = (agent: Agent): void => {
  let endingAt: number | undefined;
  const end = (reason: string) => {
    if (endingAt !== undefined && performance.now() - endingAt > sameSignalMs) process.exit(1);
    endingAt ??= performance.now();
    agent.end('stop', reason);
  };
  process.on('SIGTERM', end).on('SIGINT', end).on('SIGHUP', end);
};

const createLog = (config: AgentConfig) => {
  const file = new LogFile(join(config.dataDir, 'logs', 'agent.log'));
  const shipper = new LogShipper();
  const log = new Log([printTo(process.stderr, config.logLevel), file.write, shipper.write]);
  // The reader of stderr may be gone, as after a restart; that is not fatal.
  process.stderr.on('error', () => {});
  process.on('uncaughtException', (error) => {
    log.error(`unexpected error: ${error.stack}`);
    file.flushNow();
    process.exit(1);
  });
  return { log, file, shipper };
};

const loadIdentity = async ({ dataDir, token }: AgentConfig): Promise<Identity> => {
  const identity = await Identity.load(dataDir);
  if (identity.isEnrolled) return identity;
  const problem =
    token === undefined
      ? '--token or RUSHHOUR_JOIN_TOKEN is needed: this agent is not enrolled yet'
      : '--token must carry the key of the controller (rh_join_SECRET.KEY): create a new token';
  if (token === undefined || parseJoinToken(token).controllerKey === undefined)
    throw new ConfigError(`the configuration is wrong:\n  - ${problem}`);
  return identity;
};

const startAgain = (args: readonly string[]): void => {
  const program = [...process.execArgv, process.argv[1] as string, ...args];
  spawn(process.execPath, program, { detached: true, stdio: 'inherit' }).unref();
};

/** Runs the agent in this process and returns the exit code. */
const runHere = async (config: AgentConfig, args: readonly string[]): Promise<number> => {
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  const release = await claimFolder(config.dataDir);
  const identity = await loadIdentity(config);
  const { log, file: logFile, shipper } = createLog(config);
  log.info(`agent ${identity.uuid}, version ${agentVersion}, data in ${config.dataDir}`);
  if (config.isPlain) {
    log.warn(
      'the controller is reached without TLS: messages are encrypted with its pinned key, but https:// is better',
    );
  }
  const undone = await new Versions(config.dataDir).takeFailure();
  if (undone !== undefined) log.error(undone);
  const agent = new Agent({
    ...{ config, identity, log, logFile, shipper },
    machineId: await machineIdOf(config.dataDir),
    onContact: () => {
      if (process.connected) process.send?.({ type: 'connected' });
    },
  });
  endOnSignal(agent);
  if (config.endsWithParent) onParentExit(() => agent.end('stop', 'the parent process has exited'));
  const ending = await agent.run().catch((error: Error): Ending | 'refused' => {
    if (!(error instanceof Refusal)) throw error;
    log.error(error.message);
    return 'refused';
  });
  logFile.flushNow();
  await release();
  if (ending === 'refused') return refusedCode;
  if (ending === 'restart' && config.restartsBy === 'exit') return restartCode;
  if (ending === 'restart') startAgain(args);
  return 0;
};

/** Runs the version in use and returns the exit code. */
export const runProcess = (config: AgentConfig, args: readonly string[]): Promise<number> =>
  launch({
    versions: new Versions(config.dataDir),
    args,
    endsWithParent: config.endsWithParent,
    runHere: () => runHere(config, args),
  });
