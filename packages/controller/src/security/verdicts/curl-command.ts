import type { Attempt, Content, HttpExchange } from '@rushhour/protocol';

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const bytesOf = (content: Content | undefined): Buffer | undefined =>
  content === undefined || 'file' in content ? undefined : Buffer.from(content.data, 'base64');

/** Letters that a shell and a report show as they are. */
const isPlain = (bytes: Buffer) => bytes.every((byte) => byte >= 0x20 && byte < 0x7f);

const maxBody = 8192;

/** What curl would add by itself, and devices look at. */
const ownHeaders = ['User-Agent', 'Accept', 'Content-Type', 'Expect'];

const withoutOwn = (headers: readonly { readonly name: string }[]): string[] => {
  const given = new Set(headers.map(({ name }) => name.trim().toLowerCase()));
  return ownHeaders.filter((name) => !given.has(name.toLowerCase())).flatMap((name) => ['-H', quoted(`${name}:`)]);
};

const commandOf = ({ method, path, version, headers, body }: HttpExchange['steps'][number]['request']): string => {
  const bytes = bytesOf(body);
  const isShown = bytes === undefined || (bytes.length <= maxBody && isPlain(bytes));
  const options = [
    ...['-isk', version === '2' ? '--http2-prior-knowledge' : `--http${version}`, '-X', quoted(method)],
    ...['--request-target', quoted(path)],
    // An empty value needs a semicolon: with a colon curl would leave the header out.
    ...headers.flatMap(({ name, value }) => ['-H', quoted(value === '' ? `${name};` : `${name}: ${value}`)]),
    ...withoutOwn(headers),
    ...(bytes === undefined
      ? []
      : isShown
        ? ['--data-raw', quoted(bytes.toString('latin1'))]
        : ['--data-binary', '@-']),
  ];
  const command = `curl ${options.join(' ')} "$TARGET"`;
  if (isShown) return command;
  const cut = bytes.length > maxBody ? `# the first ${maxBody} of ${bytes.length} bytes of the body\n` : '';
  return `${cut}printf %s ${bytes.toString('base64', 0, maxBody)} | base64 -d | ${command}`;
};

/** Commands that send an attempt again, to the address in `TARGET`; empty for what is no HTTP or holds a sample. */
export const curlOf = ({ exchange }: Pick<Attempt, 'exchange'>): string => {
  if (exchange.protocol !== 'http') return '';
  const hasFile = exchange.steps.some(({ request: { body } }) => body !== undefined && 'file' in body);
  return hasFile ? '' : exchange.steps.map(({ request }) => commandOf(request)).join('\n');
};
