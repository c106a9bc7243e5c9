import type { Api, ReplyOf, RequestOf, Route, UploadFieldsOf } from '@rushhour/contract';

export type Send = (url: string, init?: RequestInit) => Promise<Response>;

interface CallOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

type RequiredKeys<T> = { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T];
type Given<T> = T extends { query: infer Q } ? Omit<T, 'query'> & (object extends Q ? { query?: Q } : { query: Q }) : T;

/** A file to send beside the text parts of an upload. */
export interface UploadOf<Fields> {
  fields: Fields;
  file: Blob;
  filename: string;
}

type RequestFor<R extends Route> = Given<RequestOf<R>> &
  (R extends { readonly upload: object } ? { upload?: UploadOf<UploadFieldsOf<R>> } : unknown) &
  (R extends { readonly chunk: true } ? { chunk: Blob | Uint8Array<ArrayBuffer> } : unknown);

/** Downloads resolve to the raw response, which the caller reads. */
type AnswerOf<R extends Route> = R extends { readonly download: readonly string[] } ? Response : ReplyOf<R>;

/** The function of one route. A request without required parts may be left out. */
export type Call<R extends Route> =
  RequiredKeys<RequestFor<R>> extends never
    ? (request?: RequestFor<R>, options?: CallOptions) => Promise<AnswerOf<R>>
    : (request: RequestFor<R>, options?: CallOptions) => Promise<AnswerOf<R>>;

export type Client = {
  readonly [C in keyof Api]: {
    readonly [O in keyof Api[C]['routes']]: Api[C]['routes'][O] extends Route ? Call<Api[C]['routes'][O]> : never;
  };
};

interface Parts {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  upload?: UploadOf<Record<string, unknown>>;
  chunk?: Blob | Uint8Array<ArrayBuffer>;
}

/** What calling a route takes. */
export type CallableRoute = Pick<Route, 'method' | 'path' | 'download' | 'events'>;
export type CallableCollections = Readonly<
  Record<string, { readonly routes: Readonly<Record<string, CallableRoute>> }>
>;

/** A function for every route of the collections. */
export const clientOf = (collections: CallableCollections, baseUrl: string, send: Send): Client => {
  const call =
    (route: CallableRoute) =>
    async (request: Parts = {}, { headers = {}, signal }: CallOptions = {}) => {
      const response = await send(baseUrl + urlOf(route.path, request), {
        method: route.method,
        ...bodyOf(request, headers),
        ...(signal && { signal }),
      });
      if (!response.ok && response.status !== 304) throw await failureOf(response);
      if (route.download) return response;
      if (route.events && response.body) return readEvents(response.body);
      const text = await response.text();
      return text === '' ? undefined : JSON.parse(text);
    };
  const functions = Object.entries(collections).map(([name, { routes }]) => [
    name,
    Object.fromEntries(Object.entries(routes).map(([operation, route]) => [operation, call(route)])),
  ]);
  return Object.fromEntries(functions);
};

const bodyOf = ({ body, upload, chunk }: Parts, headers: Record<string, string>) => {
  if (upload !== undefined) return { headers, body: formOf(upload) };
  if (chunk !== undefined) return { headers: { 'content-type': 'application/octet-stream', ...headers }, body: chunk };
  if (body === undefined) return { headers };
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
};

const formOf = ({ fields, file, filename }: UploadOf<Record<string, unknown>>) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.append(name, String(value));
  form.append('file', file, filename);
  return form;
};

const failureOf = async (response: Response) => {
  const text = await response.text();
  try {
    const { data, error } = JSON.parse(text);
    return new RequestFailed(response.status, data, error);
  } catch {
    return new RequestFailed(response.status, { code: 'NO_ENVELOPE', requestId: '' }, text || response.statusText);
  }
};

const urlOf = (path: string, { params = {}, query = {} }: Parts) => {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value])
      if (item !== undefined) search.append(name, String(item));
  }
  return `/v1${filled}${search.size > 0 ? `?${search}` : ''}`;
};

interface ErrorData {
  code: string;
  requestId: string;
  issues?: { path: string; code: string; message: string }[];
  [member: string]: unknown;
}

/** The controller refused a request. `message` and `data` are those of the error body. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';
  readonly status: number;
  readonly data: ErrorData;

  constructor(status: number, data: ErrorData, message: string) {
    super(message);
    this.status = status;
    this.data = data;
  }

  get code() {
    return this.data.code;
  }
}

interface StreamedEvent {
  id?: string;
  event: string;
  data: unknown;
}

/** Reads `text/event-stream` block by block until it ends. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamedEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader() as ReadableStreamDefaultReader<string>;
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = eventOf(block);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

const eventOf = (block: string): StreamedEvent | undefined => {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name) fields.set(name, fields.has(name) ? `${fields.get(name)}\n${value}` : value);
  }
  const data = fields.get('data');
  if (data === undefined) return undefined;
  const id = fields.get('id');
  return { ...(id !== undefined && { id }), event: fields.get('event') ?? 'message', data: JSON.parse(data) };
};
