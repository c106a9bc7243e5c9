import { type DnsValues, dnsPlugin } from '@rushhour/contract';
import type { DnsClientConfig, DnsServerConfig, TlsClientSettings } from '@rushhour/protocol';
import type { ClientDraft, ClientPart, Traffic } from '../../core/load/traffic.ts';
import { estimateDatagrams, estimateTcp } from '../../core/load/traffic-estimate.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { planner } from '../../core/planner.ts';
import { clientTls, serverTls } from '../../endpoints/tls-settings.ts';
import { drawnTextFor, type PlannedText, planDrawnText } from '../drawn-text.ts';
import { loadOf } from './load-and-tuning.ts';

type DnsType = DnsValues['dnsParams']['types'][number];

/** From the ranges and names that are set aside for examples. */
const exampleData: Readonly<Record<Exclude<DnsType, 'ANY'>, string>> = {
  A: '192.0.2.1',
  AAAA: '2001:db8::1',
  CNAME: 'alias.example.test',
  MX: '10 mail.example.test',
  NS: 'ns.example.test',
  PTR: 'host.example.test',
  SOA: 'ns.example.test admin.example.test 1 3600 600 86400 60',
  SRV: '10 10 443 host.example.test',
  TXT: 'example',
};
const ttl = 60;

/** An answer of every type that is asked for, to every name that is asked, or to all: none of them is NXDOMAIN. */
const knownAnswers = (
  names: readonly string[] | undefined,
  { types, randomPrefix }: Pick<DnsValues['dnsParams'], 'types' | 'randomPrefix'>,
): DnsServerConfig['answers'] => {
  const answered = new Set(types.map((type) => (type === 'ANY' ? 'A' : type)));
  const owners = names?.map((name) => (randomPrefix ? `*.${name}` : name)) ?? ['*'];
  return [...new Set(owners)].flatMap((name) =>
    [...answered].map((type) => ({ name, type, ttl, data: exampleData[type] })),
  );
};

type Transport = DnsValues['dnsParams']['transport'];

const defaultPorts: Readonly<Record<Transport, string>> = {
  udp: '15353',
  tcp: '15353',
  dot: '15853',
  doh: '15443',
  doq: '15853',
};
/** Carried by datagrams. */
const isDatagrams = (transport: Transport): boolean => transport === 'udp' || transport === 'doq';
const messageBytes = { sentBytes: 45, receivedBytes: 100 };
const plainTls: TlsClientSettings = { versions: ['1.2', '1.3'], alpn: [], verify: false, resumption: 'none' };

/** Queries by UDP, TCP, TLS, HTTPS and QUIC, and the answering side. */
const planDns = (scope: PlanScope, values: DnsValues): Traffic => {
  const { transport, server } = values.dnsParams;
  const drawn = drawnNames(scope, values);
  const names = namesOf(scope, values);
  reportQuic(scope, values);
  const rate = values.rpsUnlimited ? undefined : values.requestsPerSecond;
  return {
    engine: 'dns',
    transport: isDatagrams(transport) ? 'udp' : 'tcp',
    defaultPorts: defaultPorts[transport],
    takesRanges: true,
    ...(server !== undefined && {
      extraTargets: [{ endpoint: { ip: server, weight: 1 }, path: pointerIn(scope, 'dnsParams', 'server') }],
    }),
    rates: [rate],
    client: (part) => clientOf(scope, { values, names, drawn, rate, part }),
    server: () => ({
      config: serverOf(scope, values, values.dnsParams.dictionaryId === undefined ? names : undefined),
    }),
    listen: (endpoint) => ({ ...endpoint, transport }),
  };
};

/** What DNS over QUIC cannot do. */
const reportQuic = (scope: PlanScope, { dnsParams, tlsParams }: DnsValues): void => {
  if (dnsParams.transport !== 'doq') return;
  const refuse = (message: string, ...at: string[]) =>
    scope.issues.error(pointerIn(scope, ...at), 'NOT_SUPPORTED', message);
  if (tlsParams !== undefined && tlsParams.versions.length > 0 && !tlsParams.versions.includes('1.3'))
    refuse('QUIC needs TLS 1.3', 'tlsParams', 'versions');
  if (tlsParams?.recordSizeLimit !== undefined)
    refuse('has no effect: QUIC has no records', 'tlsParams', 'recordSizeLimit');
};

const drawnNames = (scope: PlanScope, { dnsParams: { dictionaryId }, isServer }: DnsValues): PlannedText | undefined =>
  dictionaryId === undefined || isServer
    ? undefined
    : planDrawnText(scope, { dictionaryId }, pointerIn(scope, 'dnsParams'));

const namesOf = (scope: PlanScope, { dnsParams, isServer }: DnsValues): string[] => {
  const { names, dictionaryId } = dnsParams;
  if (dictionaryId !== undefined) return [];
  if (names.length === 0 && !isServer) {
    scope.issues.error(pointerIn(scope, 'dnsParams', 'names'), 'REQUIRED', 'say names or dictionaryId');
  }
  return names;
};

interface ClientWork {
  readonly values: DnsValues;
  readonly names: string[];
  readonly drawn: PlannedText | undefined;
  readonly rate: number | undefined;
  readonly part: ClientPart;
}

const clientOf = (scope: PlanScope, { values, names, drawn, rate, part }: ClientWork): ClientDraft => {
  const { dnsParams, tlsParams } = values;
  const { transport, types, randomPrefix, edns, recursion, timeoutMs, retries, sockets, concurrency, path } = dnsParams;
  const load = loadOf(part, { ...values, rate });
  const config: DnsClientConfig = {
    role: 'client',
    targets: part.targets,
    rotation: part.rotation,
    sources: part.sources,
    tls: tlsParams ? clientTls(scope, tlsParams) : plainTls,
    names,
    ...(drawn && { drawn: drawnTextFor(scope, drawn, part, 1) }),
    ...(edns && { edns: { size: edns.size, dnssec: edns.do } }),
    load,
    ...{ transport, path, types, randomPrefix, recursion, timeoutMs, retries, sockets, concurrency },
  };
  const estimate = isDatagrams(transport) ? estimateDatagrams : estimateTcp;
  return {
    config,
    hasRate: load.rate !== undefined,
    estimate: { connections: sockets, opens: 0, ...estimate({ rate: load.rate ?? 0, ...messageBytes }) },
  };
};

const serverOf = (
  scope: PlanScope,
  values: DnsValues,
  names: readonly string[] | undefined,
): Omit<DnsServerConfig, 'listen'> => {
  const { answers, delayMs, path } = values.dnsParams;
  const plain = { versions: [...plainTls.versions], alpn: [], requestClientCertificate: false, tickets: true };
  return {
    role: 'server',
    tls: values.tlsParams ? serverTls(scope, values.tlsParams) : plain,
    answers: answers.length > 0 ? answers : knownAnswers(names, values.dnsParams),
    delayMs,
    path,
  };
};

export const dnsPlanner = planner(dnsPlugin, planDns);
