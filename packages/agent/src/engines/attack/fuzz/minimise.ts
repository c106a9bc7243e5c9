import type { Exchange } from '@rushhour/protocol';

/** A field of an exchange that can be shortened. */
interface Field {
  readonly name: string;
  readonly bytes: Buffer;
  /** The exchange with other bytes in this field. */
  put(bytes: Buffer): Exchange;
}

/** All fields sent by the client that can be shortened, longest first. */
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

/**
 * Finds a shorter exchange with the same effect by removing smaller and smaller parts of each field.
 * `isEnough` is called at most `max` times; the shortest exchange found so far is returned.
 */
export const minimise = async (
  exchange: Exchange,
  isEnough: (candidate: Exchange) => Promise<boolean>,
  max: number,
): Promise<Exchange> => {
  let shortest = exchange;
  let asked = 0;
  const ask = (candidate: Exchange) => {
    asked += 1;
    return isEnough(candidate);
  };
  for (const { name } of fieldsOf(exchange)) {
    const bytesNow = () => fieldsOf(shortest).find((field) => field.name === name);
    for (let parts = 2; asked < max; ) {
      const field = bytesNow();
      if (field === undefined || field.bytes.length === 0) break;
      const size = Math.max(1, Math.ceil(field.bytes.length / parts));
      let isShorter = false;
      for (let at = 0; at < field.bytes.length && asked < max && !isShorter; at += size) {
        const rest = Buffer.concat([field.bytes.subarray(0, at), field.bytes.subarray(at + size)]);
        const candidate = field.put(rest);
        if (!(await ask(candidate))) continue;
        shortest = candidate;
        isShorter = true;
      }
      if (isShorter) parts = Math.max(2, parts - 1);
      else if (size === 1) break;
      else parts *= 2;
    }
  }
  return shortest;
};
