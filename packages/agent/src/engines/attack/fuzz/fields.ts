import type { Exchange } from '@rushhour/protocol';

/** A part of an exchange that may be shortened. */
export interface Field {
  readonly name: string;
  readonly bytes: Buffer;
  /** The exchange with other bytes in this place. */
  put(bytes: Buffer): Exchange;
}

/** Everything of an exchange that the client says and that can be shorter, the longest first. */
export const fieldsOf = (exchange: Exchange): Field[] => {
  const fields =
    exchange.protocol === 'raw' ? rawFields(exchange) : exchange.protocol === 'http' ? httpFields(exchange) : [];
  return fields.toSorted((left, right) => right.bytes.length - left.bytes.length);
};

type Raw = Extract<Exchange, { protocol: 'raw' }>;
type Http = Extract<Exchange, { protocol: 'http' }>;

const bytesIn = (content: object) => Buffer.from('data' in content ? String(content.data) : '', 'base64');
const contentOf = (bytes: Buffer) => ({ data: bytes.toString('base64') });

const rawFields = (exchange: Raw): Field[] =>
  exchange.sends.map((send, i) => ({
    name: `send ${i}`,
    bytes: bytesIn(send.content),
    put: (bytes) => ({
      ...exchange,
      sends: exchange.sends.with(i, { ...send, content: contentOf(bytes.length === 0 ? Buffer.from('\n') : bytes) }),
    }),
  }));

const httpFields = (exchange: Http): Field[] =>
  exchange.steps.flatMap((step, i) => {
    const { request } = step;
    const put = (change: Partial<typeof request>) => ({
      ...exchange,
      steps: exchange.steps.with(i, { ...step, request: { ...request, ...change } }),
    });
    const headers = request.headers.map(
      (header, h): Field => ({
        name: `header ${header.name}`,
        bytes: Buffer.from(header.value, 'latin1'),
        put: (bytes) => put({ headers: request.headers.with(h, { ...header, value: bytes.toString('latin1') }) }),
      }),
    );
    const path: Field = {
      name: 'path',
      bytes: Buffer.from(request.path.slice(1), 'latin1'),
      put: (bytes) => put({ path: `${request.path[0] ?? '/'}${bytes.toString('latin1')}` }),
    };
    const { body } = request;
    const bodies: Field[] =
      body === undefined
        ? []
        : [{ name: 'body', bytes: bytesIn(body), put: (bytes) => put({ body: contentOf(bytes) }) }];
    return [path, ...headers, ...bodies];
  });
