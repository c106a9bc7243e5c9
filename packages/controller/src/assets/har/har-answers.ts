import { hash } from 'node:crypto';
import type { HarAnswer, HarEntry } from '@rushhour/protocol';
import { headerOf, withoutHeaders } from './har-headers.ts';
import type { RecordedEntry } from './har-recording.ts';
import { maskedHeader } from './har-redaction.ts';
import type { CompiledRequest } from './har-request.ts';
import type { HarParams } from './har-selection.ts';

const sha256Of = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');

const encodings = ['gzip', 'x-gzip', 'deflate', 'br', 'zstd'];
const ofEncoding = new Set(['content-encoding']);

export const hasNoBody = ({ method, status }: Pick<RecordedEntry, 'method' | 'status'>): boolean =>
  method === 'HEAD' || status === 204 || status === 304;

const bodyOf = ({ answer }: RecordedEntry, { mode, missingBody }: HarParams['server']): HarAnswer['body'] => {
  if (answer.bytes === undefined) return missingBody === 'pad' ? { size: answer.size } : { base64: '' };
  return mode === 'recorded' ? { base64: answer.bytes.toString('base64') } : { size: answer.size };
};

/** What the answering side says to an entry. */
export const answerOf = (
  entry: RecordedEntry,
  { path: asked, body }: Pick<CompiledRequest, 'path' | 'body'>,
  params: HarParams,
): HarAnswer => {
  const at = asked.indexOf('?');
  const headers = withoutHeaders(entry.answerHeaders, ofEncoding);
  const encoding = headerOf(entry.answerHeaders, 'content-encoding')?.toLowerCase().trim() ?? '';
  const { latency, latencyFactor } = params.server;
  return {
    index: entry.index,
    host: entry.url.hostname,
    method: entry.method,
    path: at < 0 ? asked : asked.slice(0, at),
    query: at < 0 ? '' : asked.slice(at + 1),
    bodySha256: body === undefined ? '' : sha256Of(body),
    status: entry.status,
    headers: params.redactSecrets ? headers.map(maskedHeader) : headers,
    body: bodyOf(entry, params.server),
    encoding: encodings.includes(encoding) ? encoding : '',
    delayMs: latency === 'recorded' ? Math.round(entry.waitMs * latencyFactor) : 0,
  };
};

/** What makes an answer good. Only what was recorded, and what the answering side is to keep, can be asked for. */
export const expectationOf = (
  entry: RecordedEntry,
  { checks, server: { mode, missingBody } }: HarParams,
): HarEntry['expect'] => {
  const { bytes, size } = entry.answer;
  const knowsSize = mode !== 'echo' && !hasNoBody(entry) && (bytes !== undefined || missingBody === 'pad');
  return {
    ...(checks.status && { status: entry.status }),
    ...(checks.bodySize && knowsSize && { bodySize: size }),
    ...(checks.bodySha256 && knowsSize && mode === 'recorded' && bytes && { bodySha256: sha256Of(bytes) }),
  };
};
