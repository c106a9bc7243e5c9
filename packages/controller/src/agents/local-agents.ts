import type { ChildProcess } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { findAgentByUuid } from '../store/agents/agents.ts';
import type { Store } from '../store/store.ts';
import { createEnrolmentToken } from './gateway/admission/enrolment.ts';
import {
  type Account,
  accountFor,
  agentFolder,
  canKeepCapabilities,
  obstacleTo,
  spawnAgent,
} from './local-agent-process.ts';

const program = fileURLToPath(new URL('../../../agent/src/main.ts', import.meta.url));
/** How an agent says that it wants to be started again. */
const startAgainCode = 75;
const firstDelayMs = 500;
const longestDelayMs = 30_000;
const tokenSec = 300;

interface LocalAgentsOptions {
  readonly count: number;
  readonly url: string;
  readonly tls: { readonly cert: string } | undefined;
  readonly dataDir: string;
  /** Account of the agents when the controller is root; `root` for its own. */
  readonly user: string | undefined;
  readonly packageKeys: readonly string[];
  readonly controllerKey: string;
  readonly store: Store;
  readonly log: Logger;
}

/** Agents on this machine, each a process of its own, so that a newcomer has a client and a server at once. */
export const startLocalAgents = (options: LocalAgentsOptions) => {
  const { count, dataDir, log } = options;
  const children = new Map<string, ChildProcess>();
  let isStopping = false;

  const run = async (name: string, delayMs: number): Promise<void> => {
    const account = accountFor(options.user);
    if (account !== undefined && !canKeepCapabilities())
      log.warn('local agents get no raw sockets: install setpriv, or set RUSHHOUR_AGENT_USER=root to run them as root');
    const folder = agentFolder(dataDir, name, account);
    if (account !== undefined) assertReachable(folder, account);
    const token = await tokenFor(options, name, folder);
    if (isStopping) return;
    const child = spawnAgent({ args: argumentsOf(options, name, folder), token: token ?? '', account });
    children.set(name, child);
    const startedAt = Date.now();
    child.once('exit', (code, signal) => {
      children.delete(name);
      if (isStopping) return;
      const isSteady = Date.now() - startedAt > longestDelayMs;
      const next = isSteady || code === startAgainCode ? firstDelayMs : Math.min(delayMs * 2, longestDelayMs);
      log.warn({ agent: name, code, signal, againInMs: next }, 'a local agent ended');
      setTimeout(() => begin(name, next), next).unref();
    });
  };
  const begin = (name: string, delayMs: number) => {
    if (isStopping) return;
    run(name, delayMs).catch((error) => log.error({ err: error, agent: name }, 'a local agent could not be started'));
  };

  for (let i = 0; i < count; i += 1) begin(nameOf(i), firstDelayMs);
  return {
    close: async () => {
      isStopping = true;
      const ended = [...children.values()].map(
        (child) => new Promise<void>((resolve) => void child.once('exit', () => resolve())),
      );
      for (const child of children.values()) child.kill('SIGTERM');
      await Promise.all(ended);
    },
  };
};

const argumentsOf = ({ url, tls, packageKeys }: LocalAgentsOptions, name: string, folder: string) => [
  ...[program, '--controller', url, '--name', name, '--data-dir', folder, '--exit-with-parent'],
  // They are on the same machine, whatever address the controller listens on.
  ...(tls === undefined ? ['--allow-http'] : ['--fingerprint', new X509Certificate(tls.cert).fingerprint256]),
  ...(packageKeys.length === 0 ? [] : ['--package-keys', packageKeys.join(',')]),
];

const assertReachable = (folder: string, account: Account) => {
  const obstacle = obstacleTo([process.execPath, program, folder], account);
  if (obstacle === undefined) return;
  throw new Error(
    `local agents run as user ${account.uid}, which cannot read below ${obstacle}: move the program and its data to a folder that others can pass through, or set RUSHHOUR_AGENT_USER=root to run the agents as root`,
  );
};

/** A token for one use, unless the agent that lives in the folder is known already. */
const tokenFor = async (
  { store, controllerKey }: LocalAgentsOptions,
  name: string,
  folder: string,
): Promise<string | undefined> => {
  const uuid = uuidIn(folder);
  if (uuid !== undefined && (await findAgentByUuid(store.read, uuid)) !== undefined) return undefined;
  const origin = { userId: null, address: '', requestId: 'local agents', operation: 'agents.createToken' };
  const wanted = { name, ttlSec: tokenSec, maxUses: 1, tags: 'local' };
  return (await store.change(origin, (tx) => createEnrolmentToken(tx, wanted, controllerKey))).token;
};

const uuidIn = (folder: string): string | undefined => {
  try {
    return (JSON.parse(readFileSync(join(folder, 'identity.json'), 'utf8')) as { uuid: string }).uuid;
  } catch {
    return undefined;
  }
};

const nameOf = (i: number) => ['local-client', 'local-server'][i] ?? `local-${i + 1}`;
