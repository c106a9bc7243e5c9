import type { Attempt, Content, HttpExchange } from '@rushhour/protocol';

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const bytesOf = (content: Content | undefined): Buffer | undefined =>
  content === undefined || 'file' in content ? undefined : Buffer.from(content.data, 'base64');

/** Letters that a shell and a report show as they are. */
const isPlain = (bytes: Buffer) => bytes.every((byte) => byte >= 0x20 && byte < 0x7f);

const maxBody = 8192;

const commandOf = ({ method, path, version, headers, body }: HttpExchange['steps'][number]['request']): string => {
  const bytes = bytesOf(body);
  const isShown = bytes === undefined || (bytes.length <= maxBody && isPlain(bytes));
  const options = [
    ...['-isk', version === '2' ? '--http2-prior-knowledge' : `--http${version}`, '-X', quoted(method)],
    ...['--request-target', quoted(path)],
    ...headers.flatMap(({ name, value }) => ['-H', quoted(`${name}: ${value}`)]),
    ...(bytes === undefined
      ? []
      : isShown
        ? ['--data-raw', quoted(bytes.toString('latin1'))]
        : ['--data-binary', '@-']),
  ];
  const command = `curl ${options.join(' ')} "$TARGET"`;
  return isShown ? command : `printf %s ${bytes.toString('base64', 0, maxBody)} | base64 -d | ${command}`;
};

/** Commands that send an attempt again, to the address in `TARGET`; empty for what is no HTTP or holds a sample. */
export const curlOf = ({ exchange }: Pick<Attempt, 'exchange'>): string => {
  if (exchange.protocol !== 'http') return '';
  const hasFile = exchange.steps.some(({ request: { body } }) => body !== undefined && 'file' in body);
  return hasFile ? '' : exchange.steps.map(({ request }) => commandOf(request)).join('\n');
};
