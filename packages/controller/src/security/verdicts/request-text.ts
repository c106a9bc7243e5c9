import type { Attempt, Content } from '@rushhour/protocol';

const mostLetters = 4096;

const textOf = (content: Content): string =>
  'file' in content ? `(file ${content.file})` : Buffer.from(content.data, 'base64').toString('latin1');

/** What an attempt says, to be read by people. */
const linesOf = ({ exchange }: Attempt): string[] => {
  switch (exchange.protocol) {
    case 'http':
      return exchange.steps.map(({ request: { method, path, version, headers, body } }) =>
        [
          `${method} ${path} HTTP/${version}`,
          ...headers.map(({ name, value }) => `${name}: ${value}`),
          '',
          ...(body === undefined ? [] : [textOf(body)]),
        ].join('\n'),
      );
    case 'raw':
      return exchange.sends.map(({ content }) => textOf(content));
    case 'dns':
      return [`${exchange.qname} ${exchange.qtype}`];
    case 'icmp':
      return [textOf(exchange.content)];
    default:
      return [`${exchange.protocol} ${exchange.direction} ${exchange.name}`];
  }
};

export const requestText = (attempt: Attempt): string => linesOf(attempt).join('\n\n').slice(0, mostLetters);
