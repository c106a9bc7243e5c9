import type { CampaignStep } from '@rushhour/contract';
import type { Content, Exchange } from '@rushhour/protocol';
import { bytesOf, dataOf, dnsMessages, labelOf, signIn, smbMessages, toBase32 } from './step-bytes.ts';

/** What a step does once or several times, each a thing of its own on the network. */
export interface StepAct {
  readonly exchange: Exchange;
  readonly port: number;
  readonly isTls?: boolean;
  /** Wait before it, in milliseconds. */
  readonly delayMs?: number;
  readonly direction?: 's2c';
}

/** Members of all actions. They were checked and filled in by the schema of the action, which reads only its own. */
export interface StepParams {
  readonly count: number;
  readonly domain: string;
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

export interface StepScene {
  readonly step: CampaignStep;
  readonly params: StepParams;
  /** Which time it is, from 0. */
  readonly turn: number;
  /** Sets this campaign and host apart from others, so that nothing is said twice. */
  readonly name: string;
  /** Name of the commanding host. */
  readonly domain: string;
  /** The bytes of a test file, or of the sample with this id; undefined where it is not here. */
  findSample(kind: string, container: string, fileID: number | undefined): Content | undefined;
  /** The values of a dictionary; undefined where it is not here. */
  findWords(dictionaryId: number): readonly string[] | undefined;
}

/** Echoes have no port; this one stands for them, as that of the service of this name. */
const echoPort = 7;

type Act = (scene: StepScene) => readonly StepAct[];

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

const web = ({ method = 'GET', path, host, userAgent = 'Mozilla/5.0', headers = [], body, answer }: Web): Exchange => ({
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

const raw = (said: Buffer | string, heard?: Buffer | string): Exchange => ({
  ...{ protocol: 'raw', transport: 'tcp' },
  sends: [{ content: content(said), waitResponse: true }],
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
  (isThereAt: (n: number, count: number) => boolean): Act =>
  ({ params: { count, domain, labelLength, seed, qtype }, step, turn, name }) =>
    times(count, (n) => {
      const label = labelOf(`${name} ${seed} ${turn} ${n}`, labelLength);
      return { exchange: ask(`${label}.${domain}`, qtype, isThereAt(n, count)), port: step.port };
    });

/** Bytes in the labels of names, each of 63 letters at most. */
const inNames =
  (qtype: string): Act =>
  ({ params: { bytes, chunk, encoding, domain }, step, turn, name }) =>
    times(Math.ceil(bytes / chunk), (n) => {
      const part = bytesOf(`${name} ${turn} ${n}`, Math.min(chunk, bytes - n * chunk));
      const text = encoding === 'hex' ? part.toString('hex') : toBase32(part);
      const labels = text.match(/.{1,60}/g) ?? [];
      return { exchange: ask([...labels, String(n), domain].join('.').slice(-253), qtype, true), port: step.port };
    });

const beacon =
  (isTls: boolean): Act =>
  ({ params, step, turn, name, domain }) => {
    const { intervalMs, uriPattern, userAgent, method, bodyBytes, headers, sni } = params;
    const path = uriPattern.replaceAll('{{n}}', String(turn));
    const host = isTls ? sni : domain;
    const body = bodyBytes > 0 ? bytesOf(`${name} ${turn}`, bodyBytes) : undefined;
    const said = [{ name: 'Cookie', value: `id=${labelOf(name, 16)}` }, ...headers];
    const exchange = web({ method, path, host, userAgent, headers: said, body });
    return [{ exchange, port: step.port, isTls, delayMs: turn === 0 ? 0 : intervalMs }];
  };

const plainBeacon: Act = ({ params: { intervalMs, bytes }, step, turn, name }) => {
  const text = `NICK ${labelOf(name, 8)}\r\nPRIVMSG #orders :${labelOf(`${name} ${turn}`, 24)}\r\n`;
  const said = step.protocol === 'irc' ? Buffer.from(text) : bytesOf(`${name} tcp ${turn}`, bytes);
  return [{ exchange: raw(said), port: step.port, delayMs: turn === 0 ? 0 : intervalMs }];
};

const leak =
  (carry: (part: Buffer, n: number, scene: StepScene) => Exchange): Act =>
  (scene) => {
    const { bytes, chunkBytes, pattern, spacingMs = 0 } = scene.params;
    return times(Math.ceil(bytes / chunkBytes), (n) => {
      const length = Math.min(chunkBytes, bytes - n * chunkBytes);
      const part = dataOf(pattern, `${scene.name} ${scene.step.idx} ${scene.turn} ${n}`, length);
      return { exchange: carry(part, n, scene), port: scene.step.port, delayMs: n === 0 ? 0 : spacingMs };
    });
  };

const byWeb = leak((body, n, { domain }) => web({ method: 'POST', path: `/upload/${n}`, host: domain, body }));
const byFile = (protocol: 'smtp' | 'ftp') =>
  leak((part, n) => ({
    ...{ protocol, direction: 'up', name: `part-${n}.dat`, contentType: 'application/octet-stream' },
    content: content(part),
  }));

const mostPorts = 64;
const portsIn = (text: string): number[] =>
  text
    .split(',')
    .flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return times(Math.max(0, Math.min(last, 65_535) - first + 1), (n) => first + n).slice(0, mostPorts);
    })
    .slice(0, mostPorts);

const coded: Readonly<Record<string, (bytes: Buffer) => string>> = {
  base64: (bytes) => bytes.toString('base64'),
  hex: (bytes) => bytes.toString('hex'),
  base32: toBase32,
};

const fetchFile: Act = ({ params: { sampleKind, container, fileID }, step, turn, name, domain, findSample }) => {
  const isNoise = sampleKind === 'entropy' && fileID === undefined;
  const body = isNoise ? content(bytesOf(`${name} noise ${turn}`, 4096)) : findSample(sampleKind, container, fileID);
  if (body === undefined) return [];
  const exchange = web({
    path: `/stage/${turn}.bin`,
    host: domain,
    answer: { type: 'application/octet-stream', body },
  });
  return [{ exchange, port: step.port, direction: 's2c' }];
};

/** Signs in by one account after the other; the server always refuses. */
const sprayLogins: Act = ({ params: { attempts, protocol, dictionaryId }, step, turn, name, findWords }) => {
  const words = dictionaryId === undefined ? undefined : (findWords(dictionaryId) ?? []);
  return times(Math.min(attempts, words?.length ?? attempts), (n) => {
    const [user = '', password = 'Winter-2026'] = words?.[n]?.split(/:(.*)/s) ?? [
      labelOf(`${name} user ${turn} ${n}`, 7),
    ];
    const { said, answered } = signIn(protocol, user, password);
    return {
      exchange: {
        ...{ protocol: 'raw', transport: 'tcp' },
        sends: said.map((line) => ({ content: content(`${line}\r\n`), waitResponse: true })),
        answers: answered.map((line) => content(`${line}\r\n`)),
      },
      port: step.port,
    };
  });
};

const echoBeacon: Act = ({ params: { intervalMs, bytes }, turn, name }) => [
  {
    exchange: { protocol: 'icmp', content: content(bytesOf(`${name} icmp ${turn}`, bytes)), count: 1, intervalMs: 0 },
    port: echoPort,
    delayMs: turn === 0 ? 0 : intervalMs,
  },
];

/** What each action is on the network; nothing is ever done on a host. */
export const actions: Readonly<Record<Exclude<CampaignStep['action'], 'wait'>, Act>> = {
  'dns-query': lookUp(() => true),
  'dga-lookup': lookUp((n, count) => n === count - 1),
  'dns-tunnel': inNames('TXT'),
  'dns-exfil': inNames('A'),
  'http-beacon': beacon(false),
  'https-beacon': beacon(true),
  'tcp-beacon': plainBeacon,
  'icmp-beacon': echoBeacon,
  'nonstandard-port': ({ params: { protocol, port }, turn, name, domain }) => [
    {
      exchange: protocol === 'tcp' ? raw(bytesOf(`${name} ${turn}`, 64)) : web({ path: `/${turn}`, host: domain }),
      port,
    },
  ],
  'doh-query': ({ params: { count, domain }, step, turn, name }) =>
    times(count, (n) => {
      const { query, answer } = dnsMessages(`${labelOf(`${name} ${turn} ${n}`, 12)}.${domain}`);
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
  'port-scan': ({ params: { ports, rate }, turn }) =>
    portsIn(ports).map((port) => ({ exchange: raw(`scan ${turn} ${port}\n`), port, delayMs: 1000 / rate })),
  'service-probe': ({ params: { ports }, turn, domain }) =>
    portsIn(ports).map((port) => ({
      exchange: web({ method: 'OPTIONS', path: `/probe/${turn}`, host: domain }),
      port,
    })),
  'host-sweep': ({ params: { count }, step, turn }) =>
    times(count, (n) => ({ exchange: raw(`sweep ${turn} ${n}\n`), port: step.port })),
  'login-spray': sprayLogins,
  'smb-probe': ({ params: { shares }, step }) =>
    shares.map((share) => {
      const { request, answer } = smbMessages(share);
      return { exchange: raw(request, answer), port: step.port };
    }),
  'encoded-channel': ({ params: { encoding }, step, turn, name, domain }) => {
    const text = (coded[encoding] as (bytes: Buffer) => string)(Buffer.from(`order ${turn} of ${name}`));
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
  'proxy-connect': ({ step, turn, domain }) => [
    {
      exchange: raw(
        `CONNECT ${domain}:443 HTTP/1.1\r\nHost: ${domain}:443\r\nProxy-Connection: keep-alive ${turn}\r\n\r\n`,
        'HTTP/1.1 200 Connection established\r\n\r\n',
      ),
      port: step.port,
    },
  ],
};
