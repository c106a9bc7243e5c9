import type { CveSignature } from '@rushhour/contract';
import { readRows } from '../../store/assets/dictionaries.ts';
import type { Executor } from '../../store/engine/database.ts';
import { attemptValues } from './expressions/attempt-values.ts';
import { type RenderedAttempt, type RenderedRequest, renderSignature } from './expressions/render.ts';
import { TemplateError } from './expressions/template-error.ts';
import { wireBytes } from './expressions/wire-bytes.ts';

const shownAttempts = 20;
const shownTarget = { host: 'server.test', port: 80, isTls: false };

/** What a signature sends and answers; nothing is sent. */
export const renderedSignature = async (read: Executor, signature: CveSignature) => {
  const values = await dictionaryValues(read, signature);
  const dictionary = (id: number) => values.get(id) ?? [];
  try {
    const options = { seed: String(signature.id), target: shownTarget, dictionary };
    const attempts = renderSignature(signature, { ...options, limit: shownAttempts });
    const total = attemptValues(signature, dictionary).length;
    return {
      requests: attempts.flatMap(shownRequests),
      responses: (attempts[0]?.responses ?? []).map(({ body, ...response }) => ({ ...response, body: textOf(body) })),
      issues: [
        ...signature.warnings,
        ...(total > attempts.length ? [`${total - attempts.length} more attempts are not shown`] : []),
      ],
      attempts: total,
    };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { requests: [], responses: [], issues: [error.message], attempts: 0 };
  }
};

/** The first values of the dictionaries that payloads name; enough to show. */
const dictionaryValues = async (read: Executor, { payloads }: CveSignature) => {
  const ids = payloads.flatMap(({ dictionaryId }) => dictionaryId ?? []);
  const found = await Promise.all(
    ids.map(async (id) => {
      const rows = await readRows<string | string[]>(read, id, { from: 0, limit: shownAttempts });
      return [id, rows.map((row) => (typeof row === 'string' ? row : (row[0] ?? '')))] as const;
    }),
  );
  return new Map(found);
};

const shownRequests = ({ requests }: RenderedAttempt, attempt: number) =>
  requests.map((request, requestIdx) => {
    const bytes = wireBytes(request);
    return { attempt, requestIdx, protocol: protocolOf(request), bytes: bytes.toString('base64'), text: textOf(bytes) };
  });

const protocolOf = (request: RenderedRequest) => (request.kind === 'raw' ? request.transport : request.kind);

const maxText = 8192;
const textOf = (bytes: Buffer) =>
  bytes
    .subarray(0, maxText)
    .toString('latin1')
    .replace(/[^\x20-\x7e\r\n\t]/g, '.');
