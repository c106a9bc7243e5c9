import type { SigRequest } from '@rushhour/contract';
import { isReservedHost } from '../expressions/foreign-hosts.ts';
import { withoutCallbacks } from './callback-hosts.ts';
import { categoryOf } from './category.ts';
import { literal, nameOf, tagsOf } from './members.ts';
import { Refusal, refusing, type TemplateFile, type TemplateOutcome } from './template.ts';

/** One request per file; names that end with .white are benign. */
export const readHttpRaw = ({ path, bytes: given }: TemplateFile): TemplateOutcome[] => [
  refusing(path, () => {
    const bytes = withoutCallbacks(given);
    const isBenign = /\.white$/i.test(path);
    const warnings: string[] = [];
    const request = readRawRequest(literal(bytes.toString('latin1')), 0);
    const headers = (request.headers ?? []).filter(({ name, value }) => {
      const isForeign = name.toLowerCase() === 'host' && !isReservedHost(value.trim());
      if (isForeign) warnings.push(`the host ${value.slice(0, 60)} is replaced by that of the server`);
      return !isForeign;
    });
    const { body } = request;
    const folder = path.split('/').at(-2) ?? '';
    return {
      templateId: path,
      source: 'http-raw',
      sourceRef: path.slice(-250),
      warnings,
      draft: {
        name: nameOf(path, 'request'),
        severity: isBenign ? 'info' : 'unknown',
        category: isBenign ? 'other' : categoryOf(path),
        tags: tagsOf(['http-raw', folder, ...(isBenign ? ['benign'] : [])]),
        expect: { action: isBenign ? 'allow' : 'block' },
        requests: [{ ...request, headers, ...(body !== undefined && bodyOf(bytes)) }],
      },
    };
  }),
];

/** A request whose headers and bytes stay as they are. Bytes that are no text become hexadecimal. */
export const readRawBytes = (bytes: Buffer, idx: number): HttpRequest => {
  const { body } = bodyOf(bytes);
  const end = bytes.length - Buffer.from(body, 'base64').length;
  const lines = bytes.toString('latin1', 0, end).replace(/^\s+/, '');
  const read = readHead(lines.replace(/(\r?\n)+$/, ''));
  const kept = (text: string) => literalBytes(Buffer.from(text, 'latin1'));
  return {
    ...{ idx, kind: 'http', method: kept(read.method), path: kept(read.path), version: read.version },
    headers: read.headers.map(({ name, value }) => ({ name: kept(name), value: kept(value) })),
    ...(body !== '' && { body, bodyEncoding: 'base64' as const }),
    exact: true,
  };
};

/** Text as it is, and bytes that are no UTF-8 by their numbers. */
export const literalBytes = (bytes: Buffer): string => {
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return literal(text);
  return bytes
    .toString('latin1')
    .replaceAll('{{', '\u0001')
    .replaceAll(/[\x80-\xff]+/g, (part) => `{{hex_decode("${Buffer.from(part, 'latin1').toString('hex')}")}}`)
    .replaceAll('\u0001', '{{"{{"}}');
};

/** The body is taken as bytes and need not be text. */
const bodyOf = (bytes: Buffer) => {
  const text = bytes.toString('latin1');
  const end = /\r?\n\r?\n/.exec(text.replace(/^\s+/, (blanks) => '.'.repeat(blanks.length)));
  const from = end === null ? text.length : end.index + end[0].length;
  return { body: bytes.subarray(from).toString('base64'), bodyEncoding: 'base64' as const };
};

type HttpRequest = Extract<SigRequest, { kind: 'http' }>;

/** Reads a request in wire format. Lines may end with LF; the length is computed again when the request is sent. */
export const readRawRequest = (raw: string, idx: number, isLenient = false): HttpRequest => {
  const text = raw.replace(/^(?:\s*@[a-z-]+:[^\n]*\n)+/i, '').replace(/^\s+/, '');
  const [head = '', body] = splitOnce(text, /\r?\n\r?\n/);
  const { method, path, version, headers } = readHead(head, isLenient);
  return {
    idx,
    kind: 'http',
    method,
    path,
    version,
    headers: headers.filter(({ name }) => !/^content-length$/i.test(name)),
    ...(body !== undefined && body !== '' && { body }),
  };
};

const readHead = (head: string, isLenient = false) => {
  const [first = '', ...lines] = head.split(/\r?\n/);
  const headers = unfolded(lines).flatMap((line) => {
    const colon = line.indexOf(':');
    if (colon < 1 && isLenient) return [];
    if (colon < 1) throw new Refusal(`the line ${JSON.stringify(line.slice(0, 60))} is no header`);
    return { name: line.slice(0, colon), value: line.slice(colon + 1).trim() };
  });
  return { ...firstLine(first), headers };
};

const firstLine = (line: string) => {
  const [, method, path, version = '1.1'] = /^(\S+)\s+(.*?)(?:\s+HTTP\/(\d(?:\.\d)?))?\s*$/.exec(line) ?? [];
  if (method === undefined || path === undefined || path === '') {
    throw new Refusal(`the request begins with ${JSON.stringify(line.slice(0, 60))}, which is no request line`);
  }
  return { method, path, version: versionOf(version) };
};

export const versionOf = (version: string): '1.0' | '1.1' | '2' => {
  if (version === '1.0' || version === '1.1') return version;
  if (version === '2' || version === '2.0') return '2';
  throw new Refusal(`HTTP version ${version.slice(0, 16)} cannot be sent`);
};

const unfolded = (lines: readonly string[]) => {
  const whole: string[] = [];
  for (const line of lines) {
    const last = whole.length - 1;
    if (/^[ \t]/.test(line) && last >= 0) whole[last] = `${whole[last]} ${line.trim()}`;
    else if (line !== '') whole.push(line);
  }
  return whole;
};

const splitOnce = (text: string, separator: RegExp): [string, string?] => {
  const match = separator.exec(text);
  return match === null ? [text] : [text.slice(0, match.index), text.slice(match.index + match[0].length)];
};
