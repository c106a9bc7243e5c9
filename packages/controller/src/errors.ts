/** Kinds of failure the API can report, and the status each becomes. The only place a status code is chosen. */
export const statusOf = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  timeout: 408,
  conflict: 409,
  gone: 410,
  tooLarge: 413,
  unsupportedMedia: 415,
  rangeNotSatisfiable: 416,
  misdirected: 421,
  tooMany: 429,
  headersTooLarge: 431,
  internal: 500,
  unavailable: 503,
} as const;

type ErrorKind = keyof typeof statusOf;

/** A failure the caller can act on. Anything else that is thrown is a bug and becomes a bare 500. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly kind: ErrorKind;
  readonly code: string;
  readonly data: Record<string, unknown>;

  constructor(kind: ErrorKind, code: string, message: string, data: Record<string, unknown> = {}) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.data = data;
  }
}

/** The controller cannot start. The message is one sentence that says why and what to do; no stack is shown. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** One problem of a request: where (JSON pointer), what (stable code), and a sentence. */
export interface Issue {
  path: string;
  code: string;
  message: string;
  /** The part of the request, when it is not the body. */
  in?: 'path' | 'query' | 'header' | 'body' | undefined;
}

/** A bad request with all its problems. The sentence names the first and counts the rest. */
export const invalid = (issues: readonly Issue[], code = 'INVALID_REQUEST') => {
  const [first] = issues;
  const rest = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  const where = first?.path ? `${first.path} ` : '';
  return new ApiError('invalid', code, `${where}${first?.message ?? 'invalid request'}${rest}`, { issues });
};

export const notFound = (what: string, id: number) =>
  new ApiError('notFound', 'NOT_FOUND', `${what} ${id} not found`, { id });

/** The record that `reading` finds; throws `NOT_FOUND` when there is none. */
export const orNotFound = async <T>(reading: Promise<T | undefined>, what: string, id: number): Promise<T> => {
  const found = await reading;
  if (found === undefined) throw notFound(what, id);
  return found;
};

export const conflict = (code: string, message: string, data: Record<string, unknown> = {}) =>
  new ApiError('conflict', code, message, data);

export const forbidden = (code: string, message: string, data: Record<string, unknown> = {}) =>
  new ApiError('forbidden', code, message, data);

export const unauthenticated = (code: string, message: string) => new ApiError('unauthenticated', code, message);

export const tooMany = (code: string, message: string, retryAfterSec: number) =>
  new ApiError('tooMany', code, message, { retryAfterSec });

export const unavailable = (code: string, message: string) =>
  new ApiError('unavailable', code, message, { retryAfterSec: 1 });
