import type { HarHeader } from '@rushhour/protocol';
import { type HarJson, headerOf, listOf, numberOf, objectOf, textOf } from './har-headers.ts';
import type { HarOddity } from './har-warnings.ts';

type Warn = (code: HarOddity) => void;

const base64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

const bytesOf = (text: string, isBase64: boolean, warn: Warn): Buffer => {
  if (!isBase64) return Buffer.from(text, 'utf8');
  if (base64.test(text)) return Buffer.from(text, 'base64');
  warn('HAR_BODY_UNSOUND');
  return Buffer.from(text, 'utf8');
};

const encode = (text: string): string => encodeURIComponent(text.toWellFormed()).replaceAll('%20', '+');

/** Fields of a form, for recordings that have them instead of the text. */
const formOf = (params: readonly HarJson[], type: string, warn: Warn): Buffer => {
  const boundary = /boundary="?([^";]+)/i.exec(type)?.[1];
  if (boundary === undefined) {
    const pairs = params.map(({ name, value }) => `${encode(textOf(name))}=${encode(textOf(value))}`);
    return Buffer.from(pairs.join('&'));
  }
  const parts = params.map(({ name, value, fileName, contentType }) => {
    if (fileName !== undefined && value === undefined) warn('HAR_UPLOAD_MISSING');
    const file = fileName === undefined ? '' : `; filename="${textOf(fileName).replaceAll('"', '%22')}"`;
    const kind = contentType === undefined ? '' : `Content-Type: ${textOf(contentType)}\r\n`;
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${textOf(name).replaceAll('"', '%22')}"${file}`;
    return `${head}\r\n${kind}\r\n${textOf(value)}\r\n`;
  });
  return Buffer.from(`${parts.join('')}--${boundary}--\r\n`);
};

/** Undefined for a request without a body. */
export const requestBody = (request: HarJson, headers: readonly HarHeader[], warn: Warn): Buffer | undefined => {
  const posted = objectOf(request['postData']);
  const text = textOf(posted['text']);
  const params = listOf(posted['params'])
    .map(objectOf)
    .filter(({ name }) => textOf(name) !== '');
  const type = headerOf(headers, 'content-type') ?? textOf(posted['mimeType']);
  const isBase64 = (posted['encoding'] ?? posted['_encoding']) === 'base64';
  const body = text !== '' || params.length === 0 ? bytesOf(text, isBase64, warn) : formOf(params, type, warn);
  return body.length > 0 ? body : undefined;
};

export interface RecordedBody {
  /** Undefined where the recording has none although there was one. */
  readonly bytes: Buffer | undefined;
  readonly size: number;
}

/** The decoded body of a response. */
export const answerBody = (response: HarJson, warn: Warn): RecordedBody => {
  const content = objectOf(response['content']);
  const size = Math.floor(numberOf(content['size']) ?? numberOf(response['bodySize']) ?? 0);
  if (typeof content['text'] === 'string' && (content['text'] !== '' || size === 0)) {
    const bytes = bytesOf(content['text'], content['encoding'] === 'base64', warn);
    return { bytes, size: bytes.length };
  }
  if (size === 0) return { bytes: Buffer.alloc(0), size: 0 };
  warn('HAR_BODY_MISSING');
  return { bytes: undefined, size };
};
