import { findPlugin, type HarReplayValues } from '@rushhour/contract';
import { createSchemaCheck } from '../../../schema-check.ts';

type Params = HarReplayValues['harReplayParams'];

/** One request of a recording, in short form. */
export interface Shown {
  readonly url: string;
  readonly method?: string;
  readonly atMs?: number;
  readonly ms?: number;
  readonly page?: string;
  readonly connection?: string;
  readonly version?: string;
  readonly headers?: Record<string, string>;
  readonly post?: { mimeType: string; text: string };
  readonly status?: number;
  readonly answerHeaders?: [string, string][];
  readonly text?: string | Buffer;
  readonly size?: number;
  readonly more?: object;
}

const beganAt = Date.UTC(2026, 0, 1);
const pairs = (headers: Iterable<readonly [string, string]>) => [...headers].map(([name, value]) => ({ name, value }));

const contentOf = ({ text, size }: Shown) => {
  if (text === undefined) return { size: size ?? 0, mimeType: 'text/html' };
  if (typeof text === 'string') return { size: Buffer.byteLength(text), mimeType: 'text/html', text };
  return { size: text.length, mimeType: 'image/png', text: text.toString('base64'), encoding: 'base64' };
};

const entryOf = (shown: Shown) => ({
  startedDateTime: new Date(beganAt + (shown.atMs ?? 0)).toISOString(),
  time: shown.ms ?? 5,
  timings: { send: 0, wait: shown.ms ?? 5, receive: 0 },
  pageref: shown.page ?? 'page_1',
  ...(shown.connection !== undefined && { connection: shown.connection }),
  request: {
    method: shown.method ?? 'GET',
    url: shown.url,
    httpVersion: shown.version ?? 'HTTP/1.1',
    headers: pairs(Object.entries(shown.headers ?? {})),
    ...(shown.post && { postData: shown.post }),
  },
  response: {
    status: shown.status ?? 200,
    httpVersion: shown.version ?? 'HTTP/1.1',
    headers: pairs(shown.answerHeaders ?? []),
    content: contentOf(shown),
  },
  ...shown.more,
});

/** A recording with these requests. */
export const harOf = (...shown: Shown[]): string =>
  JSON.stringify({ log: { version: '1.2', pages: [{ id: 'page_1', title: 'First' }], entries: shown.map(entryOf) } });

const check = createSchemaCheck(findPlugin(9)?.schema ?? {});

/** Overrides of the replay parameters. */
export type HarOptions = Partial<Omit<Params, 'server' | 'checks'>> & {
  readonly server?: Partial<Params['server']>;
  readonly checks?: Partial<Params['checks']>;
};

/** Parameters of a task with everything that was left out filled in. */
export const paramsOf = (options: HarOptions = {}): Params => {
  const values = { harReplayParams: { fileId: 1, ...structuredClone(options) } };
  const problems = check(values);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return values.harReplayParams as Params;
};
