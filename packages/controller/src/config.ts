import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { isLoopbackHost, parseKeyList } from '@rushhour/protocol';
import { parseS3Url } from './store/blobs/s3-url.ts';

export interface Config {
  host: string;
  port: number;
  dataDir: string;
  logLevel: string;
  databaseUrl?: string;
  /** Servers that carry messages between controllers, separated by commas. */
  natsUrl?: string;
  s3Url?: string;
  secretKey?: Buffer;
  admin?: { email: string; password: string };
  tls?: { cert: string; key: string };
  /** The installation id of a data folder or bucket that the database of this installation takes over. */
  adoptData?: string;
  /** File that checkpoints of the audit chain are appended to. */
  auditCheckpoints?: string;
  /** Addresses and ranges of reverse proxies whose `X-Forwarded-*` headers are believed. */
  trustedProxies?: string[];
  /** Names and addresses in Host headers that mean this controller, beside its own; `*.` stands for any subdomain. */
  allowedHosts?: string[];
  /** Where other machines and people reach the controller, such as a reverse proxy; without a slash at the end. */
  publicUrl?: string;
  /** Folder of the archives that agents are installed from. */
  agentArchives?: string;
  /** Agents started beside the controller, on the same machine. */
  localAgents?: number;
  /** Account of these agents when the controller is root. */
  agentUser?: string;
  /** Whether the library of applications is stored. */
  library?: boolean;
  /** Keys that may sign upgrade packages of agents, in addition to the release keys. */
  packageKeys?: readonly string[];
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** The configuration is wrong; the message lists every problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

type Environment = Record<string, string | undefined>;

/** Reads the environment, the only place that does. Throws with all problems at once. */
export const readConfig = (env: Environment): Config => {
  const problems: string[] = [];
  const host = env['RUSHHOUR_HOST'] || '127.0.0.1';
  const port = numberOf(env, { name: 'RUSHHOUR_PORT', fallback: 8080, max: 65_535 }, problems);
  const logLevel = logLevelOf(env['RUSHHOUR_LOG_LEVEL'], problems);
  const localAgents = numberOf(env, { name: 'RUSHHOUR_LOCAL_AGENTS', fallback: 2, max: 16 }, problems);
  const shared = sharedOf(env, problems);
  const adoptData = env['RUSHHOUR_ADOPT_DATA'] || undefined;
  const trustedProxies = proxiesOf(env['RUSHHOUR_TRUSTED_PROXIES'], problems);
  const allowedHosts = hostsOf(env['RUSHHOUR_ALLOWED_HOSTS'], problems);
  const publicUrl = publicUrlOf(env['RUSHHOUR_PUBLIC_URL'], problems);
  const dataDir = resolve(env['RUSHHOUR_DATA_DIR'] || './data');
  const secretKey = keyOf(env['RUSHHOUR_SECRET_KEY'], problems);
  const admin = adminOf(env['RUSHHOUR_ADMIN_EMAIL'], env['RUSHHOUR_ADMIN_PASSWORD'], problems);
  checkClearText(env, host, problems);
  const packageKeys = packageKeysOf(env['RUSHHOUR_PACKAGE_KEYS'], problems);
  const tls = tlsOf(env['RUSHHOUR_TLS_CERT'], env['RUSHHOUR_TLS_KEY'], problems);
  if (problems.length > 0)
    throw new ConfigError(`the configuration is wrong:\n${problems.map((p) => `  - ${p}`).join('\n')}`);
  return {
    host,
    port,
    logLevel,
    localAgents,
    dataDir,
    library: !['off', '0', 'false'].includes(env['RUSHHOUR_LIBRARY'] ?? ''),
    agentArchives: resolve(env['RUSHHOUR_AGENT_ARCHIVES'] || join(dataDir, 'agent-archives')),
    ...shared,
    ...(adoptData && { adoptData }),
    ...(env['RUSHHOUR_AUDIT_CHECKPOINTS'] && { auditCheckpoints: resolve(env['RUSHHOUR_AUDIT_CHECKPOINTS']) }),
    ...(trustedProxies && { trustedProxies }),
    ...(allowedHosts && { allowedHosts }),
    ...(publicUrl && { publicUrl }),
    ...(secretKey && { secretKey }),
    ...(admin && { admin }),
    ...(env['RUSHHOUR_AGENT_USER'] && { agentUser: env['RUSHHOUR_AGENT_USER'] }),
    ...(packageKeys && { packageKeys }),
    ...(tls && { tls }),
  };
};

const numberOf = (
  env: Environment,
  { name, fallback, max }: { name: string; fallback: number; max: number },
  problems: string[],
) => {
  const value = Number(env[name] || fallback);
  if (!Number.isInteger(value) || value < 0 || value > max) problems.push(`${name} must be a number from 0 to ${max}`);
  return value;
};

const logLevelOf = (text: string | undefined, problems: string[]) => {
  const level = text || 'info';
  if (!logLevels.includes(level)) problems.push(`RUSHHOUR_LOG_LEVEL must be one of ${logLevels.join(', ')}`);
  return level;
};

const databaseUrlOf = (text: string | undefined, problems: string[]) => {
  if (!text) return undefined;
  if (!/^postgres(ql)?:\/\//.test(text)) problems.push('DATABASE_URL must begin with postgres://');
  return text;
};

/** What several controllers share. */
const sharedOf = (env: Environment, problems: string[]) => {
  const databaseUrl = databaseUrlOf(env['DATABASE_URL'], problems);
  const natsUrl = natsUrlOf(env, problems);
  const s3Url = s3UrlOf(env['S3_URL'], problems);
  return { ...(databaseUrl && { databaseUrl }), ...(natsUrl && { natsUrl }), ...(s3Url && { s3Url }) };
};

const natsUrlOf = (env: Environment, problems: string[]) => {
  const text = env['NATS_URL'];
  if (!text) return undefined;
  const isFine = text.split(',').every((url) => /^(nats|tls):\/\/./.test(url.trim()) && URL.canParse(url.trim()));
  if (!isFine) problems.push('NATS_URL must be addresses such as nats://127.0.0.1:4222, separated by commas');
  if (!env['DATABASE_URL'])
    problems.push('NATS_URL is for several controllers, which share a database: set DATABASE_URL');
  return text;
};

/** Without TLS, other machines may reach the controller only if the configuration accepts it. */
const checkClearText = (env: Environment, host: string, problems: string[]) => {
  const allowsHttp = !['', '0', 'false'].includes(env['RUSHHOUR_ALLOW_HTTP'] ?? '');
  if (allowsHttp || isLoopbackHost(host) || env['RUSHHOUR_TLS_CERT']) return;
  problems.push(
    `RUSHHOUR_HOST ${host} can be reached from other machines, where passwords would travel in the clear: set RUSHHOUR_TLS_CERT and RUSHHOUR_TLS_KEY, or RUSHHOUR_ALLOW_HTTP=true to accept that`,
  );
};

const keyOf = (text: string | undefined, problems: string[]) => {
  if (!text) return undefined;
  const key = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (key.length !== 32) problems.push('RUSHHOUR_SECRET_KEY must be 32 bytes in base64 or 64 hexadecimal digits');
  return key;
};

const packageKeysOf = (text: string | undefined, problems: string[]) => {
  if (!text) return undefined;
  try {
    return parseKeyList(text);
  } catch (error) {
    problems.push(`RUSHHOUR_PACKAGE_KEYS: ${(error as Error).message}`);
    return undefined;
  }
};

const isRange = (text: string) => {
  const [address = '', length, ...more] = text.split('/');
  const bits = isIP(address) === 4 ? 32 : 128;
  return (
    isIP(address) > 0 && more.length === 0 && (length === undefined || (/^\d+$/.test(length) && Number(length) <= bits))
  );
};

const proxiesOf = (text: string | undefined, problems: string[]) => {
  if (!text) return undefined;
  const ranges = text.split(',').map((range) => range.trim());
  if (!ranges.every(isRange)) {
    problems.push('RUSHHOUR_TRUSTED_PROXIES must be addresses or ranges such as 10.0.0.0/8, separated by commas');
  }
  return ranges;
};

const hostsOf = (text: string | undefined, problems: string[]) => {
  if (!text) return undefined;
  const hosts = text.split(',').map((host) => host.trim().toLowerCase());
  const isHost = (host: string) => isIP(host) > 0 || /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host);
  if (!hosts.every(isHost)) {
    problems.push('RUSHHOUR_ALLOWED_HOSTS must be names such as lab.example.test or *.example.test, or addresses');
  }
  return hosts;
};

const publicUrlOf = (text: string | undefined, problems: string[]) => {
  if (!text) return undefined;
  const url = URL.parse(text);
  const isFine =
    url !== null && /^https?:$/.test(url.protocol) && /^\/*$/.test(url.pathname) && url.search + url.hash === '';
  if (!isFine) problems.push('RUSHHOUR_PUBLIC_URL must be an address such as https://lab.example.test, without a path');
  return url?.origin;
};

const s3UrlOf = (text: string | undefined, problems: string[]) => {
  if (!text) return undefined;
  try {
    parseS3Url(text);
  } catch (error) {
    problems.push((error as Error).message);
  }
  return text;
};

const adminOf = (email: string | undefined, password: string | undefined, problems: string[]) => {
  if (!email && !password) return undefined;
  if (!email || !password) problems.push('RUSHHOUR_ADMIN_EMAIL and RUSHHOUR_ADMIN_PASSWORD go together');
  if (email && !/^[^@\s]+@[^@\s]+$/.test(email)) problems.push('RUSHHOUR_ADMIN_EMAIL must be an e-mail address');
  if (password && (password.length < 12 || password.length > 128)) {
    problems.push('RUSHHOUR_ADMIN_PASSWORD must have 12 to 128 characters');
  }
  return { email: email ?? '', password: password ?? '' };
};

const tlsOf = (certFile: string | undefined, keyFile: string | undefined, problems: string[]) => {
  if (!certFile && !keyFile) return undefined;
  if (!certFile || !keyFile) {
    problems.push('RUSHHOUR_TLS_CERT and RUSHHOUR_TLS_KEY go together');
    return undefined;
  }
  const read = (name: string, file: string) => {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`);
      return '';
    }
  };
  return { cert: read('RUSHHOUR_TLS_CERT', certFile), key: read('RUSHHOUR_TLS_KEY', keyFile) };
};
