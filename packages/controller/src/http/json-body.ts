import type { Readable } from 'node:stream';
import secureJson from 'secure-json-parse';
import { ApiError, invalid } from '../errors.ts';

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
export const assertPlain = (value: unknown, pointer = '', depth = 0): void => {
  if (typeof value === 'string') assertText(value, pointer);
  if (typeof value !== 'object' || value === null) return;
  if (depth >= maxDepth)
    throw invalid([{ path: pointer, code: 'TOO_DEEP', message: `is nested deeper than ${maxDepth} levels` }]);
  for (const [name, member] of Object.entries(value)) {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    assertText(name, at);
    assertPlain(member, at, depth + 1);
  }
};

const assertText = (text: string, pointer: string) => {
  if (text.includes('\0') || !text.isWellFormed()) {
    throw invalid([
      { path: pointer.toWellFormed(), code: 'BAD_TEXT', message: 'holds a NUL or half a surrogate pair' },
    ]);
  }
};
