import type { SigPayload, SigRequest } from '@rushhour/contract';
import { listOf, type Members, membersOf, numberOf, textOf, textsOf } from './members.ts';
import { readRawRequest } from './raw-request.ts';
import { Refusal } from './template.ts';

const maxRequests = 20;
const refusedMembers = [
  'race',
  'race_count',
  'digest-username',
  'digest-password',
  'fuzzing',
  'pipeline',
  'signature',
  'global-matchers',
];

/** Requests of one `http` block, in the order they are sent. */
export const httpRequests = (block: Members, from: number, warn: (warning: string) => void): SigRequest[] => {
  const member = refusedMembers.find((name) => block[name] !== undefined && block[name] !== false);
  if (member !== undefined) throw new Refusal(`${member} is not supported`);
  const raws = textsOf(block['raw']);
  const paths = textsOf(block['path']);
  const requests =
    raws.length > 0
      ? raws.map((raw, i) => bound(agented(rawRequest(raw, from + i))))
      : paths.map((path, i) => bound(agented(requestOf(block, path, from + i))));
  if (requests.length === 0) throw new Refusal('an http block has neither path nor raw');
  if (from + requests.length > maxRequests) {
    warn(`only the first ${maxRequests} requests are taken`);
    return requests.slice(0, Math.max(0, maxRequests - from));
  }
  return requests;
};

const withCrLf = (text: string) => (text.includes('\r\n') ? text : text.replaceAll('\n', '\r\n'));

/** Lines end with CR LF, and the last one of a body is dropped unless it ends a part, as nuclei does. */
const rawRequest = (raw: string, idx: number): HttpRequest => {
  const { body, ...request } = readRawRequest(withCrLf(raw), idx, true);
  if (/\s/.test(request.path.replaceAll(/\{\{.*?\}\}/gs, '')))
    throw new Refusal('the target of a raw request has a space, which ends it for nuclei');
  const isMultipart = request.headers?.some(
    ({ name, value }) => /content-type/i.test(name) && value.includes('multipart/'),
  );
  const sent = isMultipart ? body : body?.replace(/\r\n$/, '');
  return { ...request, ...(sent !== undefined && sent !== '' && { body: sent }) };
};

const browser =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 Safari/537.36';

/** Headers that nuclei adds where a request has none; the name of the browser is one of many. */
const agented = (request: HttpRequest): HttpRequest => {
  const names = new Set((request.headers ?? []).map(({ name }) => name.toLowerCase()));
  const added = [
    { name: 'User-Agent', value: browser },
    { name: 'Accept-Encoding', value: 'gzip' },
  ];
  return {
    ...request,
    headers: [...(request.headers ?? []), ...added.filter(({ name }) => !names.has(name.toLowerCase()))],
  };
};

type HttpRequest = Extract<SigRequest, { kind: 'http' }>;

const requestOf = (block: Members, path: string, idx: number): HttpRequest => {
  const own = Object.entries(membersOf(block['headers'])).map(([name, value]) => ({ name, value: textOf(value) }));
  const names = new Set(own.map(({ name }) => name.toLowerCase()));
  const defaults = [
    { name: 'Accept', value: '*/*' },
    { name: 'Accept-Language', value: 'en' },
  ];
  const headers = [...own, ...defaults.filter(({ name }) => !names.has(name.toLowerCase()))];
  const body = withCrLf(textOf(block['body']));
  return { idx, kind: 'http', method: textOf(block['method']) || 'GET', path, headers, ...(body !== '' && { body }) };
};

/**
 * The target of a request is always the server of the task: placeholders of its address are removed, other addresses
 * are refused.
 */
const bound = (request: SigRequest): SigRequest => {
  if (request.kind !== 'http') return request;
  const path = request.path.trim().replace(/^\{\{\s*(?:BaseURL|RootURL)\s*\}\}/, '');
  const named = /^(?:[a-z][a-z0-9+.-]*:)?\/\/(?!\/)([^/?#\s]+)/i.exec(path);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) {
    const host = named?.[1] ?? path;
    if (!/^\{\{(?:Hostname|Host)\}\}/.test(host))
      throw new Refusal(`the request goes to the foreign host ${host.slice(0, 80)}`);
    return { ...request, path: slashed(path.replace(/^[a-z]+:\/\/[^/]*/i, '')) };
  }
  return {
    ...request,
    path: slashed(path),
    headers: request.headers?.filter(({ name, value }) => !isOwnHost(name, value)) ?? [],
  };
};

const slashed = (path: string) => (/^[/*{]/.test(path) ? path : `/${path}`);

const isOwnHost = (name: string, value: string) =>
  name.toLowerCase() === 'host' && /^\s*\{\{\s*(?:Hostname|Host)\s*\}\}(?::\{\{Port\}\})?\s*$/.test(value);

/** Requests of one `tcp` (formerly `network`) block. */
export const tcpRequests = (block: Members, from: number): SigRequest[] => {
  const hosts = textsOf(block['host']);
  const foreign = hosts.find(
    (host) => !/^(?:tls:\/\/)?\{\{\s*(?:Hostname|Host|FQDN)\s*\}\}(?::\d+|:\{\{Port\}\})?$/.test(host.trim()),
  );
  if (foreign !== undefined) throw new Refusal(`the request goes to the foreign host ${foreign.slice(0, 80)}`);
  const port =
    numberOf(textOf(block['port']).split(',')[0]) ??
    numberOf(hosts.map((host) => /:(\d+)$/.exec(host)?.[1]).find(Boolean));
  const isTls = hosts.some((host) => host.trim().startsWith('tls://'));
  const inputs = listOf(block['inputs']).map(membersOf);
  if (inputs.length === 0) throw new Refusal('a tcp block sends nothing');
  return inputs.slice(0, maxRequests - from).map((input, i) => {
    const type = textOf(input['type']) || 'text';
    if (type !== 'text' && type !== 'hex') throw new Refusal(`data of type ${type.slice(0, 20)} is not supported`);
    return {
      idx: from + i,
      kind: 'raw',
      transport: 'tcp',
      ...(port !== undefined && port >= 1 && port <= 65_535 && { port: Math.trunc(port) }),
      data: textOf(input['data']) || '\n',
      encoding: input['data'] === undefined ? 'text' : type,
      ...(isTls && { tls: true }),
      waitResponse: true,
    };
  });
};

const questionTypes = ['A', 'AAAA', 'TXT', 'MX', 'CNAME'] as const;

export const dnsRequest = (block: Members, idx: number): SigRequest => {
  const type = (textOf(block['type']) || 'A').toUpperCase();
  const qtype = questionTypes.find((known) => known === type);
  if (qtype === undefined) throw new Refusal(`DNS questions of type ${type.slice(0, 16)} are not supported`);
  const name = textOf(block['name']).trim();
  if (!/\{\{/.test(name) && !/(?:^|\.)(?:test|example|invalid|localhost)\.?$/i.test(name)) {
    throw new Refusal(`the question is about the foreign name ${name.slice(0, 80)}`);
  }
  return { idx, kind: 'dns', qname: name.replace(/\{\{\s*Hostname\s*\}\}/g, '{{FQDN}}'), qtype };
};

const maxValues = 2000;

/** Lists of values; files of values are not read. */
export const payloadsOf = (block: Members, warn: (warning: string) => void): SigPayload[] =>
  Object.entries(membersOf(block['payloads'])).map(([name, given]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name))
      throw new Refusal(`the payload name ${name.slice(0, 40)} is not supported`);
    if (typeof given === 'string' && !given.includes('\n'))
      throw new Refusal(`the payload ${name} is read from a file`);
    const values = typeof given === 'string' ? given.split(/\r?\n/).filter((line) => line !== '') : textsOf(given);
    if (values.length === 0) throw new Refusal(`the payload ${name} has no values`);
    if (values.length > maxValues) warn(`only the first ${maxValues} values of the payload ${name} are taken`);
    return { name, values: values.slice(0, maxValues) };
  });
