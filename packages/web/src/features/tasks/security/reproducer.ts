import type { ReportedAttempt } from './security-report.ts';

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
/** Written by curl itself. */
const ownHeaders = /^(host|content-length|connection|transfer-encoding):/i;

/** A curl command that sends the request of an attempt again; undefined if it is no HTTP request in the clear. */
export const reproducerOf = ({
  request = '',
  server,
}: Pick<ReportedAttempt, 'request' | 'server'>): string | undefined => {
  const [head = '', body = ''] = request.split(/\r?\n\r?\n/, 2);
  const [first = '', ...headers] = head.split(/\r?\n/);
  const [, method, target] = /^([A-Z]+) (\S+) HTTP\/1\.[01]$/.exec(first.trim()) ?? [];
  if (method === undefined || target === undefined) return undefined;
  const host = server.ip.includes(':') ? `[${server.ip}]` : server.ip;
  return [
    `curl -i --path-as-is -X ${method} ${quoted(`http://${host}:${server.port}${target}`)}`,
    ...headers
      .filter((line) => line.includes(':') && !ownHeaders.test(line))
      .map((line) => `-H ${quoted(line.trim())}`),
    ...(body === '' ? [] : [`--data-binary ${quoted(body)}`]),
  ].join(' \\\n  ');
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
};

/** The attack in a request, readable: the query of its target, or else its body. */
export const payloadOf = ({ request = '' }: Pick<ReportedAttempt, 'request'>): string => {
  const [head = '', body = ''] = request.split(/\r?\n\r?\n/, 2);
  const target = head.split(/\r?\n/, 1)[0]?.split(' ')[1] ?? '';
  const [path = '', query = ''] = target.split(/\?(.*)/s);
  return decoded(query || body.trim() || path);
};
