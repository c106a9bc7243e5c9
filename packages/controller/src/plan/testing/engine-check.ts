import {
  ApplicationConfig,
  AttackConfig,
  ConvergenceConfig,
  DnsConfig,
  HarReplayConfig,
  HttpConfig,
  IcmpConfig,
  IpsecLoadConfig,
  IpsecTunnelConfig,
  type Job,
  PcapReplayConfig,
  Rocev2Config,
  StatelessServerConfig,
  StreamConfig,
  TcpConfig,
  TlsConfig,
  UdpConfig,
} from '@rushhour/protocol';
import type { TSchema } from 'typebox';
import { createSchemaCheck, type SchemaCheck } from '../../schema-check.ts';

interface Variant {
  readonly anyOf?: (TSchema & { properties: { role: { const: string } } })[];
}

const checks = new Map<string, SchemaCheck>();
for (const [engine, schema] of Object.entries({
  application: ApplicationConfig,
  convergence: ConvergenceConfig,
  dns: DnsConfig,
  'har-replay': HarReplayConfig,
  http: HttpConfig,
  icmp: IcmpConfig,
  'ipsec-load': IpsecLoadConfig,
  'ipsec-tunnel': IpsecTunnelConfig,
  'pcap-replay': PcapReplayConfig,
  rocev2: Rocev2Config,
  'stateless-server': StatelessServerConfig,
  stream: StreamConfig,
  tcp: TcpConfig,
  tls: TlsConfig,
  udp: UdpConfig,
  'compromised-host': AttackConfig,
  'cve-replay': AttackConfig,
  fuzzing: AttackConfig,
  'malware-transfer': AttackConfig,
  waf: AttackConfig,
})) {
  const { anyOf } = schema as Variant;
  for (const role of ['client', 'server']) {
    const variant = anyOf?.find(({ properties }) => properties.role.const === role) ?? schema;
    checks.set(`${engine} ${role}`, createSchemaCheck(variant));
  }
}

/** Agents put the content of files in before an engine sees its configuration. */
const withFiles = (config: unknown): unknown => {
  if (typeof config !== 'object' || config === null) return config;
  if (Array.isArray(config)) return config.map(withFiles);
  if ('$file' in config) return 'AAAA';
  return Object.fromEntries(Object.entries(config).map(([name, member]) => [name, withFiles(member)]));
};

/** What the engine of an order has against its configuration, once the agent has filled it in. */
export const configProblems = ({ engine, config }: Pick<Job, 'engine' | 'config'>): string[] => {
  const key = `${engine} ${(config as { role: string }).role}`;
  const problems = checks.get(key)?.(withFiles(config)) ?? [{ path: '', message: 'is unknown' }];
  return problems.map(({ path, message }) => `${key} ${path} ${message}`);
};
