import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** The user and group that local agents run as. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Capabilities of local agents when the controller is root: raw sockets, addresses and routes, XDP, ports below 1024,
 * locked memory and limits. Not CAP_SYS_ADMIN, CAP_DAC_OVERRIDE or CAP_SETUID, which would be root again.
 */
const capabilities = [
  'net_raw',
  'net_admin',
  'net_bind_service',
  'bpf',
  'perfmon',
  'ipc_lock',
  'sys_resource',
  'sys_nice',
];

/** Variables that local agents get. Passwords, keys and addresses of databases are not among them. */
const passedVariables = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'NODE_COMPILE_CACHE', 'RUSHHOUR_AGENT_LOG_LEVEL'];

const agentEnvironment = (env: NodeJS.ProcessEnv, token: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(passedVariables.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
  RUSHHOUR_JOIN_TOKEN: token,
});

const defaultUsers = ['rushhour-agent', 'nobody'];
const nobody: Account = { uid: 65_534, gid: 65_534 };

const findUser = (name: string): Account | undefined => {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((text) => text.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
};

/**
 * The account for local agents; undefined for that of the controller. Only root can use another one. `user` is a name
 * or `root`; by default `rushhour-agent` if it exists, else `nobody`.
 */
export const accountFor = (user: string | undefined): Account | undefined => {
  if (process.getuid?.() !== 0 || user === 'root') return undefined;
  if (user === undefined) return defaultUsers.map(findUser).find((found) => found !== undefined) ?? nobody;
  const found = findUser(user);
  if (found === undefined) throw new Error(`RUSHHOUR_AGENT_USER: there is no user ${user}`);
  return found;
};

const othersBits = 0o077;

/** Takes the rights of group and others from everything in the folder but `except`. */
const closeToOthers = (folder: string, except: string): void => {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stats = lstatSync(path);
    if (name !== except && !stats.isSymbolicLink() && (stats.mode & othersBits) !== 0)
      chmodSync(path, stats.mode & ~othersBits & 0o777);
  }
};

const giveTree = (path: string, account: Account): void => {
  const stats = lstatSync(path);
  lchownSync(path, account.uid, account.gid);
  if (stats.isDirectory()) for (const name of readdirSync(path)) giveTree(join(path, name), account);
};

/**
 * Creates the folder of an agent. Another account owns its folder and may pass through the data folder to reach it, but
 * reads nothing else there.
 */
export const agentFolder = (dataDir: string, name: string, account: Account | undefined): string => {
  const agents = join(dataDir, 'agents');
  const folder = join(agents, name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (account === undefined) return folder;
  closeToOthers(dataDir, 'agents');
  for (const passage of [dataDir, agents]) {
    chownSync(passage, 0, account.gid);
    chmodSync(passage, 0o710);
  }
  // An agent that owns its folder may have put links there; the tree changes hands only once.
  if (statSync(folder).uid !== account.uid) giveTree(folder, account);
  return folder;
};

const isPassable = (path: string, account: Account): boolean => {
  const { uid, gid, mode } = statSync(path);
  if (uid === account.uid) return (mode & 0o100) !== 0;
  return (mode & (gid === account.gid ? 0o010 : 0o001)) !== 0;
};

const obstacleAbove = (path: string, account: Account): string | undefined => {
  const parent = dirname(path);
  if (parent === path) return undefined;
  return obstacleAbove(parent, account) ?? (isPassable(parent, account) ? undefined : parent);
};

/** The first folder above one of the paths that the account cannot pass through. */
export const obstacleTo = (paths: readonly string[], account: Account): string | undefined =>
  paths.map((path) => obstacleAbove(realpathSync(path), account)).find((folder) => folder !== undefined);

/** Without `setpriv`, agents of another user have no capabilities. */
export const canKeepCapabilities = () => spawnSync('setpriv', ['--version'], { stdio: 'ignore' }).status === 0;

/** Capabilities the controller has itself; others cannot be passed on. */
const heldCapabilities = (): string[] => {
  const { stdout } = spawnSync('setpriv', ['--dump'], { encoding: 'utf8' });
  const bounding = /^Capability bounding set:\s*(.*)$/m.exec(stdout)?.[1]?.split(',') ?? [];
  return capabilities.filter((name) => bounding.includes(name));
};

interface AgentProcess {
  readonly args: readonly string[];
  readonly token: string;
  readonly account: Account | undefined;
}

/** Starts the program with the environment, user and capabilities of a local agent. */
export const spawnAgent = ({ args, token, account }: AgentProcess): ChildProcess => {
  const options: SpawnOptions = { env: agentEnvironment(process.env, token), stdio: ['pipe', 'ignore', 'ignore'] };
  if (account === undefined) return spawn(process.execPath, args, options);
  if (!canKeepCapabilities()) return spawn(process.execPath, args, { ...options, ...account });
  const kept = heldCapabilities().map((name) => `+${name}`);
  const set = ['-all', ...kept].join(',');
  const limits = [`--inh-caps=${set}`, `--ambient-caps=${set}`, `--bounding-set=${set}`, '--no-new-privs'];
  const as = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'];
  return spawn('setpriv', [...as, ...limits, process.execPath, ...args], { ...options, cwd: '/' });
};
