import type { Readable } from 'node:stream';
import secureJson from 'secure-json-parse';
import { ApiError, type Issue, invalid } from '../errors.ts';

const maxDepth = 32;
const bodyTimeoutMs = 30_000;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a whole body, but never more than the limit and never longer than the time-out. */
export const readBody = (stream: Readable, limitBytes: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (error?: Error) => {
      clearTimeout(timer);
      stream.off('data', onData).off('end', onEnd).off('error', onEnd).off('aborted', onAborted);
      if (error) {
        stream.resume();
        reject(error);
      } else resolve(Buffer.concat(chunks, size));
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) finish(tooLarge(limitBytes));
      else chunks.push(chunk);
    };
    const onAborted = () => finish(invalid([{ path: '', code: 'ABORTED', message: 'the body ended too early' }]));
    const onEnd = (error?: Error) => (error ? onAborted() : finish());
    const timer = setTimeout(
      () => finish(new ApiError('timeout', 'BODY_TIMEOUT', 'the body took too long')),
      bodyTimeoutMs,
    );
    stream.on('data', onData).on('end', onEnd).on('error', onEnd).on('aborted', onAborted);
  });

export const tooLarge = (limitBytes: number) =>
  new ApiError('tooLarge', 'BODY_TOO_LARGE', `the body is larger than ${limitBytes} bytes`, { limitBytes });

/** Parses JSON that is well-formed UTF-8, not too deep, and free of what databases and prototypes choke on. */
export const parseJson = (bytes: Buffer): unknown => {
  if (bytes.length === 0) return undefined;
  const body = refuseAsInvalid(() =>
    secureJson.parse(utf8.decode(bytes), { protoAction: 'error', constructorAction: 'error' }),
  );
  assertPlain(body);
  return body;
};

const refuseAsInvalid = <T>(parse: () => T): T => {
  try {
    return parse();
  } catch (cause) {
    const reason = cause instanceof SyntaxError || cause instanceof TypeError ? cause.message : 'not JSON';
    throw invalid([
      { path: '', code: 'BAD_JSON', message: `the body is not acceptable JSON: ${reason.slice(0, 200)}` },
    ]);
  }
};

/** Refuses nesting beyond the limit and text that cannot be stored: NUL and halves of surrogate pairs. */
export const assertPlain = (value: unknown): void => {
  if (!isPlain(value, 0)) throw invalid([findFlaw(value, '', 0)]);
};

const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0');

/** The fast check, for bodies with millions of members. */
const isPlain = (value: unknown, depth: number): boolean => {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= maxDepth) return false;
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth + 1));
  for (const name in value) {
    if (!isStorable(name) || !isPlain((value as Record<string, unknown>)[name], depth + 1)) return false;
  }
  return true;
};

/** The slow search, used once a flaw is known to exist. */
const findFlaw = (value: unknown, path: string, depth: number): Issue => {
  if (typeof value !== 'object' || value === null)
    return flaw(path, 'BAD_TEXT', 'holds a NUL or half a surrogate pair');
  if (depth >= maxDepth) return flaw(path, 'TOO_DEEP', `is nested deeper than ${maxDepth} levels`);
  for (const [name, member] of Object.entries(value)) {
    const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!isStorable(name)) return flaw(at, 'BAD_TEXT', 'holds a NUL or half a surrogate pair');
    if (!isPlain(member, depth + 1)) return findFlaw(member, at, depth + 1);
  }
  return flaw(path, 'BAD_TEXT', 'cannot be stored');
};

const flaw = (path: string, code: string, message: string): Issue => ({ path: path.toWellFormed(), code, message });
