import type { CampaignStep } from '@rushhour/contract';
import type { Content, Exchange, HttpExchange } from '@rushhour/protocol';
import { portsIn, scanOf } from './scan-steps.ts';
import { smbDialogue } from './smb-dialogue.ts';
import { bytesOf, dataOf, dnsMessages, labelOf, signIn, toBase32 } from './step-bytes.ts';
import { helloOf } from './tls-profiles.ts';

/** One exchange of a step on the network; a step has one or several. */
export interface StepExchange {
  readonly exchange: Exchange;
  readonly port: number;
  readonly isTls?: boolean;
  /** Wait before the exchange, in milliseconds. */
  readonly delayMs?: number;
  readonly direction?: 's2c';
  /** Goes to this address of the servers; else they take turns. */
  readonly addressIndex?: number;
}

/** Members of all actions, validated and filled in by the schema of the action; an action reads only its own. */
export interface StepParams {
  readonly count: number;
  readonly domain: string;
  readonly domains: readonly string[];
  readonly labelLength: number;
  readonly seed: number;
  readonly qtype: string;
  readonly bytes: number;
  readonly chunk: number;
  readonly encoding: string;
  readonly intervalMs: number;
  readonly uriPattern: string;
  readonly userAgent: string;
  readonly method: string;
  readonly bodyBytes: number;
  readonly headers: readonly { name: string; value: string }[];
  readonly sni: string;
  readonly chunkBytes: number;
  readonly pattern: string;
  readonly spacingMs?: number;
  readonly ports: string;
  readonly tlsProfile?: Parameters<typeof helloOf>[0];
  readonly open: string;
  readonly timeoutMs: number;
  readonly hosts: number;
  readonly rate: number;
  readonly attempts: number;
  readonly shares: readonly string[];
  readonly protocol: string;
  readonly port: number;
  readonly sampleKind: string;
  readonly container: string;
  readonly fileID?: number;
  readonly dictionaryId?: number;
}

export interface StepContext {
  readonly step: CampaignStep;
  readonly params: StepParams;
  /** Iteration, from 0. */
  readonly iteration: number;
  /** Unique for campaign and host, so that no content is sent twice. */
  readonly name: string;
  /** Name of the C2 server. */
  readonly domain: string;
  /** The bytes of a test file, or of the sample with this id; undefined if missing. */
  findSample(kind: string, container: string, fileID: number | undefined): Content | undefined;
  /** Whether servers can tell who asked for a closed port. */
  readonly seesClosedPorts: boolean;
  /** The values of a dictionary; undefined if missing. */
  findWords(dictionaryId: number): readonly string[] | undefined;
}

/** ICMP echo has no port; this port of the echo service stands for it. */
const echoPort = 7;

type StepBuilder = (context: StepContext) => readonly StepExchange[];

const content = (bytes: Buffer | string): Content => ({ data: Buffer.from(bytes).toString('base64') });
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

interface Web {
  readonly method?: string;
  readonly path: string;
  readonly host: string;
  readonly userAgent?: string;
  readonly headers?: readonly { name: string; value: string }[];
  readonly body?: Buffer | undefined;
  readonly answer?: { readonly type: string; readonly body: Content };
}

const web = ({
  method = 'GET',
  path,
  host,
  userAgent = 'Mozilla/5.0',
  headers = [],
  body,
  answer,
}: Web): HttpExchange => ({
  protocol: 'http',
  steps: [
    {
      request: {
        ...{ method, path, version: '1.1' },
        headers: [{ name: 'Host', value: host }, { name: 'User-Agent', value: userAgent }, ...headers],
        ...(body !== undefined && { body: content(body) }),
      },
      answer: {
        ...{ mode: 'canned', status: 200 },
        headers: answer === undefined ? [] : [{ name: 'Content-Type', value: answer.type }],
        ...(answer !== undefined && { body: answer.body }),
      },
    },
  ],
});

const raw = (sent: Buffer | string, heard?: Buffer | string): Exchange => ({
  ...{ protocol: 'raw', transport: 'tcp' },
  sends: [{ content: content(sent), waitResponse: true }],
  answers: heard === undefined ? [] : [content(heard)],
});

const answers: Readonly<Record<string, string>> = {
  A: '192.0.2.1',
  AAAA: '2001:db8::1',
  TXT: 'ok',
  MX: '10 mail.example.test',
  CNAME: 'host.example.test',
};

const ask = (qname: string, qtype: string, isThere: boolean): Exchange => ({
  ...{ protocol: 'dns', transport: 'udp', qname, qtype: qtype as 'A' },
  ...{ rcode: isThere ? 'NOERROR' : 'NXDOMAIN', answers: isThere ? [answers[qtype] ?? '192.0.2.1'] : [] },
});

const lookUp =
  (isThereAt: (n: number, count: number) => boolean): StepBuilder =>
  ({ params: { count, domain, domains, labelLength, seed, qtype }, step, iteration, name }) =>
    times(count, (n) => {
      const label = labelOf(`${name} ${seed} ${iteration} ${n}`, labelLength);
      const above = domains[n % domains.length] ?? domain;
      return { exchange: ask(`${label}.${above}`, qtype, isThereAt(n, count)), port: step.port };
    });

/** Bytes encoded in labels of names, each of 63 characters at most. */
const inNames =
  (qtype: string): StepBuilder =>
  ({ params: { bytes, chunk, encoding, domain }, step, iteration, name }) =>
    times(Math.ceil(bytes / chunk), (n) => {
      const part = bytesOf(`${name} ${iteration} ${n}`, Math.min(chunk, bytes - n * chunk));
      const text = encoding === 'hex' ? part.toString('hex') : toBase32(part);
      const labels = text.match(/.{1,60}/g) ?? [];
      return { exchange: ask([...labels, String(n), domain].join('.').slice(-253), qtype, true), port: step.port };
    });

const beacon =
  (isTls: boolean): StepBuilder =>
  ({ params, step, iteration, name, domain }) => {
    const { intervalMs, uriPattern, userAgent, method, bodyBytes, headers, sni } = params;
    const path = uriPattern.replaceAll('{{n}}', String(iteration));
    const host = isTls ? sni : domain;
    const body = bodyBytes > 0 ? bytesOf(`${name} ${iteration}`, bodyBytes) : undefined;
    const sent = [{ name: 'Cookie', value: `id=${labelOf(name, 16)}` }, ...headers];
    const hello = isTls ? helloOf(params.tlsProfile) : undefined;
    const exchange = { ...web({ method, path, host, userAgent, headers: sent, body }), ...(hello && { hello }) };
    return [{ exchange, port: step.port, isTls, delayMs: iteration === 0 ? 0 : intervalMs }];
  };

const plainBeacon: StepBuilder = ({ params: { intervalMs, bytes }, step, iteration, name }) => {
  const text = `NICK ${labelOf(name, 8)}\r\nPRIVMSG #orders :${labelOf(`${name} ${iteration}`, 24)}\r\n`;
  const sent = step.protocol === 'irc' ? Buffer.from(text) : bytesOf(`${name} tcp ${iteration}`, bytes);
  return [{ exchange: raw(sent), port: step.port, delayMs: iteration === 0 ? 0 : intervalMs }];
};

const leak =
  (carry: (part: Buffer, n: number, context: StepContext) => Exchange): StepBuilder =>
  (context) => {
    const { bytes, chunkBytes, pattern, spacingMs = 0 } = context.params;
    return times(Math.ceil(bytes / chunkBytes), (n) => {
      const length = Math.min(chunkBytes, bytes - n * chunkBytes);
      const part = dataOf(pattern, `${context.name} ${context.step.idx} ${context.iteration} ${n}`, length);
      return { exchange: carry(part, n, context), port: context.step.port, delayMs: n === 0 ? 0 : spacingMs };
    });
  };

const byWeb = leak((body, n, { domain }) => web({ method: 'POST', path: `/upload/${n}`, host: domain, body }));
const byFile = (protocol: 'smtp' | 'ftp') =>
  leak((part, n) => ({
    ...{ protocol, direction: 'up', name: `part-${n}.dat`, contentType: 'application/octet-stream' },
    content: content(part),
  }));

/** Each of them is listened on. */
const maxServedPorts = 64;

const coded: Readonly<Record<string, (bytes: Buffer) => string>> = {
  base64: (bytes) => bytes.toString('base64'),
  hex: (bytes) => bytes.toString('hex'),
  base32: toBase32,
};

const fetchFile: StepBuilder = ({
  params: { sampleKind, container, fileID },
  step,
  iteration,
  name,
  domain,
  findSample,
}) => {
  const isNoise = sampleKind === 'entropy' && fileID === undefined;
  const body = isNoise
    ? content(bytesOf(`${name} noise ${iteration}`, 4096))
    : findSample(sampleKind, container, fileID);
  if (body === undefined) return [];
  const exchange = web({
    path: `/stage/${iteration}.bin`,
    host: domain,
    answer: { type: 'application/octet-stream', body },
  });
  return [{ exchange, port: step.port, direction: 's2c' }];
};

/** Tries one account after another; the server always refuses. */
const sprayLogins: StepBuilder = ({
  params: { attempts, protocol, dictionaryId },
  step,
  iteration,
  name,
  findWords,
}) => {
  const words = dictionaryId === undefined ? undefined : (findWords(dictionaryId) ?? []);
  return times(Math.min(attempts, words?.length ?? attempts), (n) => {
    const [user = '', password = 'Winter-2026'] = words?.[n]?.split(/:(.*)/s) ?? [
      labelOf(`${name} user ${iteration} ${n}`, 7),
    ];
    const { greeting, sent, answered } = signIn(protocol, user, password);
    return {
      exchange: {
        ...{ protocol: 'raw', transport: 'tcp', greeting: content(`${greeting}\r\n`) },
        sends: sent.map((line) => ({ content: content(`${line}\r\n`), waitResponse: true })),
        answers: answered.map((line) => content(`${line}\r\n`)),
      },
      port: step.port,
    };
  });
};

const echoBeacon: StepBuilder = ({ params: { intervalMs, bytes }, iteration, name }) => [
  {
    exchange: {
      protocol: 'icmp',
      content: content(bytesOf(`${name} icmp ${iteration}`, bytes)),
      count: 1,
      intervalMs: 0,
    },
    port: echoPort,
    delayMs: iteration === 0 ? 0 : intervalMs,
  },
];

/** The network traffic of each action; nothing is executed on a host. */
export const actions: Readonly<Record<Exclude<CampaignStep['action'], 'wait'>, StepBuilder>> = {
  'dns-query': lookUp(() => true),
  'dga-lookup': lookUp((n, count) => n === count - 1),
  'dns-tunnel': inNames('TXT'),
  'dns-exfil': inNames('A'),
  'http-beacon': beacon(false),
  'https-beacon': beacon(true),
  'tcp-beacon': plainBeacon,
  'icmp-beacon': echoBeacon,
  'nonstandard-port': ({ params: { protocol, port }, iteration, name, domain }) => [
    {
      exchange:
        protocol === 'tcp' ? raw(bytesOf(`${name} ${iteration}`, 64)) : web({ path: `/${iteration}`, host: domain }),
      port,
    },
  ],
  'doh-query': ({ params: { count, domain }, step, iteration, name }) =>
    times(count, (n) => {
      const { query, answer } = dnsMessages(`${labelOf(`${name} ${iteration} ${n}`, 12)}.${domain}`);
      const type = 'application/dns-message';
      const headers = [
        { name: 'Content-Type', value: type },
        { name: 'Accept', value: type },
      ];
      const asked = { method: 'POST', path: '/dns-query', host: 'resolver.example.test', headers, body: query };
      return { exchange: web({ ...asked, answer: { type, body: content(answer) } }), port: step.port, isTls: true };
    }),
  'file-download': fetchFile,
  'http-exfil': byWeb,
  'chunked-exfil': byWeb,
  'smtp-exfil': byFile('smtp'),
  'ftp-exfil': byFile('ftp'),
  'port-scan': (context) => {
    const { ports, rate, hosts } = context.params;
    if (context.seesClosedPorts) return scanOf({ ...context.params, addresses: hosts });
    return portsIn(ports, maxServedPorts).map((port) => ({
      exchange: raw(`scan ${context.iteration} ${port}\n`),
      port,
      delayMs: 1000 / rate,
    }));
  },
  'service-probe': ({ params: { ports }, iteration, domain }) =>
    portsIn(ports, maxServedPorts).map((port) => ({
      exchange: web({ method: 'OPTIONS', path: `/probe/${iteration}`, host: domain }),
      port,
    })),
  'host-sweep': (context) => {
    const { step, iteration, params } = context;
    const ports = params.ports || String(step.port);
    if (context.seesClosedPorts) return scanOf({ ...params, ports, addresses: params.count });
    return times(params.count, (n) => ({ exchange: raw(`sweep ${iteration} ${n}\n`), port: step.port }));
  },
  'login-spray': sprayLogins,
  'smb-probe': ({ params: { shares }, step, iteration, name }) =>
    shares.map((share) => {
      const { sent, answered } = smbDialogue(share, `${name} ${iteration} ${share}`);
      const sends = sent.map((message) => ({ content: content(message), waitResponse: true }));
      return {
        exchange: { ...{ protocol: 'raw', transport: 'tcp' }, sends, answers: answered.map(content) },
        port: step.port,
      };
    }),
  'encoded-channel': ({ params: { encoding }, step, iteration, name, domain }) => {
    const text = (coded[encoding] as (bytes: Buffer) => string)(Buffer.from(`order ${iteration} of ${name}`));
    return [
      {
        exchange: web({
          method: 'POST',
          path: `/c?d=${encodeURIComponent(text)}`,
          host: domain,
          body: Buffer.from(text),
        }),
        port: step.port,
      },
    ];
  },
  'proxy-connect': ({ step, iteration, domain }) => [
    {
      exchange: raw(
        `CONNECT ${domain}:443 HTTP/1.1\r\nHost: ${domain}:443\r\nProxy-Connection: keep-alive ${iteration}\r\n\r\n`,
        'HTTP/1.1 200 Connection established\r\n\r\n',
      ),
      port: step.port,
    },
  ],
};
