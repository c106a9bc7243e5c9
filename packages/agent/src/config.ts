import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isLoopbackHost, type LogLine, parseKeyList } from '@rushhour/protocol';

export interface AgentConfig {
  /** The endpoint for agents: `ws://host:port/agent` or `wss://…`. */
  readonly endpoint: URL;
  /** The endpoint is on another machine and without TLS. */
  readonly isPlain: boolean;
  /** Required until the agent is enrolled. */
  readonly token?: string;
  readonly name: string;
  readonly dataDir: string;
  /**
   * SHA-256 of the controller's certificate, 64 lower-case hexadecimal digits. If set, nothing else about the
   * certificate is checked.
   */
  readonly fingerprint?: string;
  /** PEM certificates of the CAs to trust instead of the system's. */
  readonly ca?: string;
  /** Keys that may sign upgrade packages, in addition to the release keys and those stored at the enrolment. */
  readonly packageKeys: readonly string[];
  readonly logLevel: LogLine['level'];
  readonly endsWithParent: boolean;
  /**
   * exit: the parent process restarts the agent when it exits with 75; spawn: the agent starts its successor itself.
   */
  readonly restartsBy: 'exit' | 'spawn';
}

/** Invalid configuration; the message lists every problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export const usage = `usage: node packages/agent/src/main.ts --controller http(s)://host:port [--token TOKEN]

  --controller URL       RUSHHOUR_CONTROLLER              where the controller is
  --token TOKEN          RUSHHOUR_JOIN_TOKEN              enrolment token, needed at the first start only
  --name NAME            RUSHHOUR_AGENT_NAME              name to enrol with; the host name by default
  --data-dir DIR         RUSHHOUR_AGENT_DATA_DIR          key, logs, files and results; ./agent-data by default
  --fingerprint SHA256   RUSHHOUR_CONTROLLER_FINGERPRINT  of the controller's TLS certificate
  --allow-http           RUSHHOUR_AGENT_ALLOW_HTTP        connect without TLS to another machine
  --ca FILE              RUSHHOUR_CONTROLLER_CA           authorities that may have signed that certificate, PEM
  --package-keys KEYS    RUSHHOUR_PACKAGE_KEYS            further keys that may sign upgrades, separated by commas
  --log-level LEVEL      RUSHHOUR_AGENT_LOG_LEVEL         debug, info, warn or error
  --exit-with-parent     RUSHHOUR_AGENT_EXIT_WITH_PARENT  end when the process that started the agent ends`;

const options = {
  controller: { type: 'string', env: 'RUSHHOUR_CONTROLLER' },
  token: { type: 'string', env: 'RUSHHOUR_JOIN_TOKEN' },
  name: { type: 'string', env: 'RUSHHOUR_AGENT_NAME' },
  'data-dir': { type: 'string', env: 'RUSHHOUR_AGENT_DATA_DIR' },
  fingerprint: { type: 'string', env: 'RUSHHOUR_CONTROLLER_FINGERPRINT' },
  'allow-http': { type: 'boolean', env: 'RUSHHOUR_AGENT_ALLOW_HTTP' },
  ca: { type: 'string', env: 'RUSHHOUR_CONTROLLER_CA' },
  'package-keys': { type: 'string', env: 'RUSHHOUR_PACKAGE_KEYS' },
  'log-level': { type: 'string', env: 'RUSHHOUR_AGENT_LOG_LEVEL' },
  'exit-with-parent': { type: 'boolean', env: 'RUSHHOUR_AGENT_EXIT_WITH_PARENT' },
} as const;
type Option = keyof typeof options;
type Environment = Record<string, string | undefined>;

const levels = ['debug', 'info', 'warn', 'error'] as const;

/** Options of the command line; the environment is the fallback. */
const readOptions = (args: readonly string[], env: Environment, problems: string[]) => {
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  const given = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind === 'positional') problems.push(`${token.value} is not understood`);
    if (token.kind !== 'option') continue;
    if (!(token.name in options)) problems.push(`${token.rawName} is not known`);
    else if (options[token.name as Option].type === 'boolean') given.set(token.name, 'true');
    else if (token.value) given.set(token.name, token.value);
    else problems.push(`${token.rawName} needs a value`);
  }
  return (option: Option): string | undefined => given.get(option) ?? (env[options[option].env] || undefined);
};

const endpointOf = (text: string | undefined, problems: string[]): URL => {
  const url = URL.parse(text ?? '');
  if (text === undefined) problems.push('--controller or RUSHHOUR_CONTROLLER must say where the controller is');
  else if (url === null || !/^https?:$/.test(url.protocol)) {
    problems.push(`--controller must be an address such as https://host:8080, not ${text}`);
  }
  const endpoint = new URL(url ?? 'http://localhost');
  endpoint.protocol = endpoint.protocol === 'https:' ? 'wss:' : 'ws:';
  endpoint.pathname = `${endpoint.pathname.replace(/\/+$/, '')}/agent`;
  return endpoint;
};

const fingerprintOf = (text: string | undefined, problems: string[]): string | undefined => {
  const digits = text?.replaceAll(':', '').toLowerCase();
  if (digits !== undefined && !/^[0-9a-f]{64}$/.test(digits))
    problems.push('--fingerprint must be 64 hexadecimal digits');
  return digits;
};

const packageKeysOf = (text: string | undefined, problems: string[]): string[] => {
  try {
    return parseKeyList(text ?? '');
  } catch (error) {
    problems.push(`--package-keys: ${(error as Error).message}`);
    return [];
  }
};

const caOf = (file: string | undefined, problems: string[]): string | undefined => {
  if (file === undefined) return undefined;
  try {
    const pem = readFileSync(file, 'utf8');
    new X509Certificate(pem);
    return pem;
  } catch (error) {
    problems.push(`--ca ${file}: ${(error as Error).message}`);
    return undefined;
  }
};

const isSet = (flag: string | undefined): boolean => !['', '0', 'false'].includes(flag ?? '');

// Under an init system, or as the first process of a container, a successor would be killed when the agent exits.
const isSupervised = (env: Environment) => process.pid === 1 || Boolean(env['INVOCATION_ID']);

/** Reads arguments and environment; nothing else does. Throws one error with all problems. */
export const readConfig = (args: readonly string[], env: Environment): AgentConfig => {
  const problems: string[] = [];
  const option = readOptions(args, env, problems);
  const endpoint = endpointOf(option('controller'), problems);
  const fingerprint = fingerprintOf(option('fingerprint'), problems);
  const ca = caOf(option('ca'), problems);
  if ((fingerprint ?? ca) !== undefined && endpoint.protocol === 'ws:' && option('controller') !== undefined) {
    problems.push('--fingerprint and --ca need a controller at https://');
  }
  const isPlain = endpoint.protocol === 'ws:' && !isLoopbackHost(endpoint.hostname);
  if (isPlain && !isSet(option('allow-http'))) {
    problems.push('--controller is on another machine without TLS: use https://, or --allow-http to accept that');
  }
  const packageKeys = packageKeysOf(option('package-keys'), problems);
  const name = option('name') ?? hostname();
  if (name.length > 128) problems.push('--name must have 128 characters at most');
  const logLevel = (option('log-level') ?? 'info') as LogLine['level'];
  if (!levels.includes(logLevel)) problems.push(`--log-level must be one of ${levels.join(', ')}`);
  const token = option('token');
  const endsWithParent = isSet(option('exit-with-parent'));
  if (problems.length > 0) {
    throw new ConfigError(`the configuration is wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
  return {
    endpoint,
    name,
    logLevel,
    packageKeys,
    isPlain,
    dataDir: resolve(option('data-dir') ?? './agent-data'),
    ...(token !== undefined && { token }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(ca !== undefined && { ca }),
    endsWithParent,
    restartsBy: endsWithParent || isSupervised(env) ? 'exit' : 'spawn',
  };
};
