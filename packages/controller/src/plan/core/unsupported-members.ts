import { isDeepStrictEqual } from 'node:util';
import type { PluginSpec } from '@rushhour/contract';
import { Default } from 'typebox/value';
import { type PlanScope, pointerIn } from './plan-scope.ts';

interface UnsupportedMember {
  /** Path below `values`; `*` stands for every item of a list. */
  readonly path: string;
  readonly message: string;
  /** The member is refused only under this condition. */
  readonly when?: (values: Record<string, unknown>) => boolean;
}

const each = (parent: string, names: readonly string[], message: string): UnsupportedMember[] =>
  names.map((name) => ({ path: `${parent}/${name}`, message }));

const versionOf = ({ httpParams }: Record<string, unknown>) =>
  (httpParams as { version?: string } | undefined)?.version ?? '1.1';
const isMultiplexed = (values: Record<string, unknown>) => versionOf(values) !== '1.1';
const isHttp3 = (values: Record<string, unknown>) => versionOf(values) === '3';
const hasNoQuic = (values: Record<string, unknown>) =>
  !isHttp3(values) && (values['httpParams'] as { altSvc?: boolean } | undefined)?.altSvc !== true;
const hasJourneys = ({ httpParams }: Record<string, unknown>) =>
  ((httpParams as { journeys?: readonly unknown[] } | undefined)?.journeys?.length ?? 0) > 0;
const hasNoTrace = (values: Record<string, unknown>) =>
  ((values['httpParams'] as { traceExchanges?: number } | undefined)?.traceExchanges ?? 0) === 0;
const ofJourneys = (path: string, message: string): UnsupportedMember => ({ path, message, when: hasJourneys });
const webSocketOf = ({ httpParams }: Record<string, unknown>) =>
  (httpParams as { webSocket?: { mode?: string } } | undefined)?.webSocket;
const hasWebSocket = (values: Record<string, unknown>) => webSocketOf(values) !== undefined;
const ofWebSocket = (path: string, message: string): UnsupportedMember => ({ path, message, when: hasWebSocket });
const isPushed = (values: Record<string, unknown>) => webSocketOf(values)?.mode === 'receive';
const grpcOf = ({ httpParams }: Record<string, unknown>) =>
  (httpParams as { grpc?: { call?: string } } | undefined)?.grpc;
const ofGrpc = (path: string, message: string): UnsupportedMember => ({
  path,
  message,
  when: (values) => grpcOf(values) !== undefined,
});
const isCallOf = (values: Record<string, unknown>, ...kinds: readonly string[]) =>
  kinds.includes(grpcOf(values)?.call ?? 'unary');
const rampStep: UnsupportedMember = {
  path: 'initialTps',
  message: 'has no effect without tpsRampStep, the rate by which it rises every second',
  when: ({ tpsRampStep }) => tpsRampStep === undefined,
};
const flat = (
  names: readonly string[],
  message: string,
  when: NonNullable<UnsupportedMember['when']> = () => true,
): UnsupportedMember[] => names.map((path) => ({ path, message, when }));

const isKeyedBy =
  (...methods: readonly string[]) =>
  ({ ipsecAuthMethod }: Record<string, unknown>) =>
    methods.includes(String(ipsecAuthMethod));
const isTransport = ({ ipsecMode }: Record<string, unknown>) => ipsecMode === 'transport';

/** Of both plugins of IPsec. */
const ipsec: readonly UnsupportedMember[] = [
  ...flat(['clientPortRange', 'targets/*/ports'], 'IKE has the ports 500 and 4500'),
  ...flat(['ipsecPsk'], 'has no effect: ipsecAuthMethod is not psk', isKeyedBy('cert', 'eap-tls', 'manual')),
  ...flat(['ipsecCert'], 'has no effect: ipsecAuthMethod is not cert', isKeyedBy('psk', 'eap-mschapv2', 'manual')),
  ...flat(['ipsecCa'], 'has no effect: no certificates are exchanged', isKeyedBy('psk', 'manual')),
];
const ranges = (...names: readonly string[]) => names.flatMap((name) => [`${name}Start`, `${name}End`]);
const ipsecTunnel: readonly UnsupportedMember[] = [
  ...ipsec,
  ...flat(
    ['ipsecSpi', 'ipsecKey', 'ipsecCipherKey'],
    'has no effect: ipsecAuthMethod is not manual',
    isKeyedBy('psk', 'cert', 'eap-mschapv2', 'eap-tls'),
  ),
  ...flat(
    [
      ...['ipsecIkeEncr', 'ipsecIkePrf', 'ipsecIkeDh', 'ipsecPfs', 'ipsecNatt', 'ipsecDpdInterval', 'ipsecDpdTimeout'],
      ...['ipsecIkeTimeout', 'ipsecRekeyTime', 'ipsecSaLifetime', 'ipsecTunnelOpenRatePps', 'ipsecTunnelUniqueTsi'],
      ...['ipsecMultiChildCount', ...ranges('ipsecTsSrc', 'ipsecTsDst')],
    ],
    'has no effect: with ipsecAuthMethod manual there is no IKE',
    isKeyedBy('manual'),
  ),
  ...flat(
    [...ranges('ipsecTsSrc', 'ipsecTsDst', 'ipsecInnerSrc', 'ipsecInnerDst'), 'ipsecTunnelUniqueTsi'],
    'has no effect in transport mode, where the ends of a tunnel are the hosts',
    isTransport,
  ),
];
const isResponder = ({ ipsecLoadRole }: Record<string, unknown>) => ipsecLoadRole === 'responder';
const ipsecLoad: readonly UnsupportedMember[] = [
  ...ipsec,
  ...flat(
    [
      ...['ipsecLoadHsRatePps', 'ipsecLoadConcurrentHs', 'ipsecLoadKeepalivePps', 'ipsecLoadRecycleAfterMs'],
      ...['ipsecLoadPeerBaseIp', 'ipsecLoadPeerCount', 'ipsecLoadPeerShareEndpoint'],
    ],
    'has no effect: ipsecLoadRole is responder',
    isResponder,
  ),
  ...flat(
    ['ipsecLoadSrcIpCount'],
    'has no effect: responders answer at all their addresses',
    (values) => isResponder(values) && values['ipsecLoadLocalBaseIp'] === undefined,
  ),
];
const wafRequest = 'payloads are carried by the requests of wafModules.http: set the member there';

/** Members that a schema accepts and no engine uses, by plugin. A value other than the default is refused. */
const unsupported: Readonly<Record<string, readonly UnsupportedMember[]>> = {
  http: [
    { path: 'httpParams/followRedirects', message: 'redirects are followed over HTTP/1.1 only', when: isMultiplexed },
    { path: 'keepAlive/idleMs', message: 'idle connections are closed over HTTP/1.1 only', when: isMultiplexed },
    { path: 'httpParams/pipelining', message: 'HTTP/3 has streams instead: use maxStreams', when: isHttp3 },
    { path: 'httpParams/retry', message: 'has no effect without HTTP/3', when: hasNoQuic },
    {
      path: 'httpParams/portChangeMs',
      message: 'has no effect: only HTTP/3 goes on from another port',
      when: (values) => !isHttp3(values),
    },
    { path: 'tlsParams/earlyData', message: 'early data over QUIC is not supported', when: isHttp3 },
    { path: 'tlsParams/recordSizeLimit', message: 'has no effect: QUIC has no records', when: isHttp3 },
    { path: 'tcpConfiguration', message: 'HTTP/3 does not use TCP', when: isHttp3 },
    ...['method', 'path', 'url', 'query', 'cookies', 'body'].map((name) =>
      ofJourneys(`httpParams/${name}`, 'has no effect: the steps of the journeys are the requests'),
    ),
    ofJourneys('httpParams/expect/bodyContains', 'has no effect: give the steps of the journeys checks'),
    ofJourneys('httpParams/followRedirects', 'has no effect: write the redirected request as a step'),
    ofJourneys('httpParams/pipelining', 'has no effect: requests at the same time are a parallel step'),
    ofJourneys('maxStreams', 'has no effect: requests at the same time are a parallel step'),
    ofJourneys('requestInterval', 'has no effect: use think steps'),
    ofJourneys('reopenSessionTime', 'has no effect: use think steps'),
    {
      path: 'httpParams/traceExchanges',
      message: 'has no effect: only requests of journeys are kept',
      when: (values) => !hasJourneys(values),
    },
    { path: 'httpParams/traceFailed', message: 'has no effect without traceExchanges', when: hasNoTrace },
    ofGrpc('httpParams/method', 'gRPC calls are sent by POST'),
    ofGrpc('httpParams/journeys', 'has no effect: requests are gRPC calls'),
    ...['body', 'responses', 'responseSize', 'delayMs', 'altSvc'].map((name) =>
      ofGrpc(`httpParams/${name}`, 'has no effect: gRPC calls carry messages'),
    ),
    ofGrpc('tlsParams/earlyData', 'gRPC calls are not sent in the first flight'),
    {
      path: 'httpParams/grpc/messages',
      message: 'has no effect: the client sends one message',
      when: (values) => isCallOf(values, 'unary', 'serverStreaming'),
    },
    {
      path: 'httpParams/grpc/answers',
      message: 'has no effect: the server chooses the number of its messages with serverStreaming only',
      when: (values) => !isCallOf(values, 'serverStreaming'),
    },
    ofWebSocket('httpParams/version', 'WebSockets are opened over HTTP/1.1'),
    ofWebSocket('httpParams/method', 'WebSockets are opened by GET'),
    ofWebSocket('httpParams/journeys', 'has no effect: WebSockets carry messages, not requests'),
    ...['body', 'responses', 'responseSize', 'delayMs', 'altSvc'].map((name) =>
      ofWebSocket(`httpParams/${name}`, 'has no effect: WebSockets carry messages, not requests and answers'),
    ),
    ...['httpParams/followRedirects', 'httpParams/expect/status', 'httpParams/expect/bodyContains'].map((path) =>
      ofWebSocket(path, 'has no effect: a WebSocket is opened by the answer 101 only'),
    ),
    ofWebSocket('maxStreams', 'has no effect: use httpParams.pipelining for messages under way'),
    ofWebSocket('tlsParams/earlyData', 'WebSockets are not opened in the first flight'),
    {
      path: 'httpParams/webSocket/pushPerSecond',
      message: 'has no effect: the server sends unasked in mode receive only',
      when: (values) => !isPushed(values),
    },
    ...flat(
      ['requestsPerSecond', 'httpParams/pipelining', 'requestInterval', 'initialTps', 'tpsRampStep'],
      'has no effect: in mode receive the server sends, at pushPerSecond',
      isPushed,
    ),
  ],
  udp: ['dictionaryId', 'text'].map((name) => ({
    path: `payload/${name}`,
    message: 'has no effect: the packets hold zeros',
    when: ({ payload }) => (payload as { type?: string } | undefined)?.type !== 'dictionary',
  })),
  'ipsec-load': ipsecLoad,
  'ipsec-tunnel': ipsecTunnel,
  waf: each(
    'httpParams',
    ['method', 'url', 'path', 'host', 'headers', 'query', 'body', 'cookies', 'version'],
    wafRequest,
  ),
  'cve-replay': [
    { path: 'cveReplayParams/ports', message: 'every service has a port of its own: give it in targets' },
    ...each('cveReplayParams/capture', ['enabled', 'maxBytes'], 'capture packets with the dumps of the task'),
  ],
  fuzzing: [
    { path: 'fuzzingParams/mutators/*/options', message: 'ways have no options', when: () => true },
    {
      path: 'fuzzingParams/place',
      message: 'there is no pattern to replace: use offset and length of the targets',
      when: ({ fuzzingParams }) => (fuzzingParams as { place?: string } | undefined)?.place === 'replace-regex',
    },
    ...each('fuzzingParams/baseline/request', ['version', 'port'], 'HTTP/1.1 to the port of the target is used'),
  ],
  'compromised-host': [
    {
      path: 'compromisedHostParams/hostSelection',
      message: 'has no effect: hosts send from the addresses of the sources, in their order',
    },
    { path: 'compromisedHostParams/c2/serverAgentId', message: 'the first target plays the commanding host' },
  ],
};

interface Found {
  readonly pointer: readonly string[];
  readonly value: unknown;
}

const findAt = (value: unknown, [name, ...rest]: readonly string[], pointer: readonly string[] = []): Found[] => {
  if (name === undefined) return [{ pointer, value }];
  if (typeof value !== 'object' || value === null) return [];
  const names = name === '*' ? Object.keys(value) : [name];
  return names.flatMap((own) => findAt((value as Record<string, unknown>)[own], rest, [...pointer, own]));
};

/** Empty objects for the parents of members, so that these get their defaults. */
const skeletonOf = (members: readonly UnsupportedMember[]): object => {
  const skeleton: Record<string, unknown> = {};
  for (const { path } of members) {
    let at = skeleton;
    for (const name of path
      .replace(/\/[^/]+\/\*.*$/, '/')
      .split('/')
      .slice(0, -1)) {
      at[name] ??= {};
      at = at[name] as Record<string, unknown>;
    }
  }
  return skeleton;
};

const isEmpty = (value: unknown) => value === undefined || (Array.isArray(value) && value.length === 0);

/** Refuses members that would be ignored. */
export const reportUnsupportedMembers = (scope: PlanScope, { name, schema }: PluginSpec): void => {
  const values: Record<string, unknown> = { ...scope.entry.values };
  const own = [...(unsupported[name] ?? []), ...('initialTps' in values ? [rampStep] : [])];
  const members = own.filter(({ when }) => when?.(values) !== false);
  if (members.length === 0) return;
  const defaults = Default(schema, skeletonOf(members));
  for (const { path, message } of members) {
    const parts = path.split('/');
    const [byDefault] = findAt(defaults, parts);
    for (const { pointer, value } of findAt(values, parts)) {
      if (isEmpty(value) || isDeepStrictEqual(value, byDefault?.value)) continue;
      scope.issues.error(pointerIn(scope, ...pointer), 'NOT_SUPPORTED', message);
    }
  }
};
