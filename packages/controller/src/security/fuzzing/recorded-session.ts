import { type RecordedEntry, readRecording } from '../../assets/har/har-recording.ts';
import type { RenderedHeader, RenderedRequest, RenderedResponse } from '../signatures/expressions/render.ts';

/** What a client says and what it hears, in order; cases change one session and send all of it. */
export interface BaselineSession {
  /** Position in the record. */
  readonly index: number;
  readonly requests: readonly RenderedRequest[];
  /** By request; empty where our server chooses the answers. */
  readonly responses: readonly RenderedResponse[];
}

/** Sessions of a record, and what of it is left out. */
export interface BaselineSessions {
  readonly sessions: readonly BaselineSession[];
  readonly leftOut: readonly string[];
}

/** A step of a session as bytes. */
export interface SpokenStep {
  readonly side: 'client' | 'server';
  readonly bytes: Buffer;
}

export const maxSteps = 20;
const maxAnswerBytes = 1024;
const timing = { delayMs: 0, waitResponse: true };
/** Made again for what is really sent. */
const framing = /^(connection|content-length|keep-alive|proxy-connection|te|transfer-encoding|upgrade)$/i;

const carriedHeaders = (headers: readonly { readonly name: string; readonly value: string }[]): RenderedHeader[] =>
  headers
    .filter(({ name }) => !framing.test(name) && !name.startsWith(':'))
    .map(({ name, value }) => ({ name, value }));

const requestOfEntry = ({ method, url, headers, body }: RecordedEntry): RenderedRequest => ({
  ...timing,
  ...{ kind: 'http', method, path: `${url.pathname}${url.search}`, version: '1.1', exact: false },
  headers: [
    ...(headers.some(({ name }) => /^host$/i.test(name)) ? [] : [{ name: 'Host', value: url.host }]),
    ...carriedHeaders(headers),
  ],
  body: body ?? Buffer.alloc(0),
});

const answerOfEntry = ({ status, mime, answer }: RecordedEntry): RenderedResponse => ({
  mode: 'canned',
  status,
  headers: mime === '' ? [] : [{ name: 'Content-Type', value: mime }],
  body: Buffer.from(answer.bytes?.subarray(0, maxAnswerBytes) ?? []),
});

/** The requests of a HAR by their server, at most twenty in a session. Throws `HarError`. */
export const sessionsOfHar = (text: string): BaselineSessions => {
  const { entries } = readRecording(text);
  const byServer = Map.groupBy(entries, ({ url }) => url.host);
  const parts = [...byServer.values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / maxSteps) }, (_, i) => all.slice(i * maxSteps, (i + 1) * maxSteps)),
  );
  return {
    sessions: parts.map((part, index) => ({
      index,
      requests: part.map(requestOfEntry),
      responses: part.map(answerOfEntry),
    })),
    leftOut: [],
  };
};

const separator = /\r?\n\r?\n/;

/** A request of HTTP/1 as it was recorded; undefined for anything else. */
const readHttp = (bytes: Buffer): RenderedRequest | undefined => {
  const text = bytes.toString('latin1');
  const end = separator.exec(text);
  const [line = '', ...lines] = (end === null ? text : text.slice(0, end.index)).split(/\r?\n/);
  const [, method, path, version] = /^([!-~]+) (\S+) HTTP\/(1\.[01])$/.exec(line) ?? [];
  if (method === undefined || path === undefined || end === null) return undefined;
  const headers = lines.flatMap((header) => {
    const [, name, value = ''] = /^([^:\s]+):[ \t]*(.*)$/.exec(header) ?? [];
    return name === undefined ? [] : [{ name, value: value.trimEnd() }];
  });
  const body = bytes.subarray(end.index + end[0].length);
  const exact = false;
  const kept = carriedHeaders(headers);
  return { ...timing, kind: 'http', method, path, version: version as '1.0' | '1.1', headers: kept, body, exact };
};

const statusOf = (bytes: Buffer) => Number(/^HTTP\/1\.[01] (\d{3})/.exec(bytes.toString('latin1', 0, 16))?.[1] ?? 200);

const httpAnswer = (bytes: Buffer): RenderedResponse => {
  const end = separator.exec(bytes.toString('latin1'));
  const from = end === null ? bytes.length : end.index + end[0].length;
  const body = Buffer.from(bytes.subarray(from, from + maxAnswerBytes));
  return { mode: 'canned', status: Math.max(200, statusOf(bytes)), headers: [], body };
};

interface Spoken {
  readonly sent: Buffer;
  /** Empty where the server says nothing before the client speaks again. */
  readonly heard: Buffer;
}

/** What the server says before the client does cannot be asked for: a greeting is left out. */
const spokenOf = (steps: readonly SpokenStep[]): Spoken[] => {
  const spoken: { sent: Buffer; heard: Buffer[] }[] = [];
  for (const { side, bytes } of steps) {
    if (side === 'client') spoken.push({ sent: bytes, heard: [] });
    else spoken.at(-1)?.heard.push(bytes);
  }
  return spoken.map(({ sent, heard }) => ({ sent, heard: Buffer.concat(heard) }));
};

export interface RecordedAs {
  readonly index: number;
  readonly transport: 'tcp' | 'udp';
  /** Steps are read as requests of HTTP; otherwise they are bytes. */
  readonly isHttp: boolean;
}

/** A session of a capture; undefined where the client says nothing, or no HTTP where that is wanted. */
export const sessionOfSteps = (
  steps: readonly SpokenStep[],
  { index, transport, isHttp }: RecordedAs,
): BaselineSession | undefined => {
  const spoken = spokenOf(steps).slice(0, maxSteps);
  if (spoken.length === 0) return undefined;
  if (!isHttp) return bytesSession(spoken, index, transport);
  const requests = spoken.flatMap(({ sent }) => readHttp(sent) ?? []);
  if (requests.length < spoken.length) return undefined;
  return { index, requests, responses: spoken.map(({ heard }) => httpAnswer(heard)) };
};

const plainAnswer = Buffer.from('ok\n');

/** The last message always gets an answer, so that it can be told from one that was dropped. */
const bytesSession = (spoken: readonly Spoken[], index: number, transport: 'tcp' | 'udp'): BaselineSession => {
  const heardOf = ({ heard }: Spoken): RenderedResponse => ({
    ...{ mode: 'canned', status: 200, headers: [] },
    body: heard.length > 0 ? heard : plainAnswer,
  });
  const isAnswered = ({ heard }: Spoken, i: number) => heard.length > 0 || i === spoken.length - 1;
  return {
    index,
    requests: spoken.map((one, i) => ({
      ...{ kind: 'raw', transport, data: one.sent, tls: false, delayMs: 0 },
      waitResponse: isAnswered(one, i),
    })),
    responses: spoken.filter(isAnswered).map(heardOf),
  };
};
