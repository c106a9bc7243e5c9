import { ErrorBody, type Route, statusesOf } from '@rushhour/contract';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { RawAnswer } from './raw-client.ts';
import type { Attempt } from './request.ts';

const ajv = new Ajv({ strict: false });
(addFormats as unknown as (ajv: Ajv) => void)(ajv);
const isError = ajv.compile(ErrorBody);

/** Statuses any request may get before its operation is known. */
const always = new Set([400, 401, 403, 404, 405, 408, 411, 413, 415, 417, 421, 429, 431]);

const leak =
  /\bat .+\.(ts|js|cjs):\d+|node_modules|\bSQLITE|\bselect .+ from |\binsert into |kysely|relation ".+" does not exist|syntax error at or near/i;

/** Checks the rules for every answer. Returns the first violation. */
export const createJudge = (route: Route) => {
  const documented = new Set([...statusesOf(route), 304]);
  const isReply = route.reply && ajv.compile(route.reply);
  return (
    { status, headers, body }: RawAnswer,
    { method, expectsRefusal }: Pick<Attempt, 'method' | 'expectsRefusal'>,
  ) => {
    if (status >= 500 && !isAsked(route, method, body)) return `answered ${status}: ${body.slice(0, 300)}`;
    // With another method the request may have reached another operation of the same path.
    const isOurs = method === route.method;
    if (isOurs && !documented.has(status) && !always.has(status)) return `answered ${status}, which is not documented`;
    if (expectsRefusal && status < 400) return `accepted a request that its schema refuses (${status})`;
    if (leak.test(body) && status >= 400) return `leaks internals: ${body.slice(0, 300)}`;
    if (status >= 400) return refusalProblem(headers, body);
    if (!isOurs) return undefined;
    if (headers.get('content-type')?.startsWith('text/event-stream') || status === 304 || route.download)
      return undefined;
    if (isReply === undefined)
      return body === '' ? undefined : `answered a body where none is documented: ${body.slice(0, 200)}`;
    if (body === '' || isReply(JSON.parse(body))) return undefined;
    return `the reply does not match its schema: ${ajv.errorsText(isReply.errors)}`;
  };
};

/** The interface document requires 500 for the export plan of a missing task; HEAD has no body. */
const isAsked = ({ path }: Route, method: string, body: string) =>
  path.endsWith('/export/plan') && (method === 'HEAD' || body.includes('"code":"TASK_NOT_FOUND"'));

const refusalProblem = (headers: Map<string, string>, body: string) => {
  if (body === '') return undefined;
  if (!headers.get('content-type')?.startsWith('application/json'))
    return `an error that is no JSON: ${body.slice(0, 200)}`;
  try {
    return isError(JSON.parse(body)) ? undefined : `an error without the envelope: ${body.slice(0, 200)}`;
  } catch {
    return `an error that cannot be parsed: ${body.slice(0, 200)}`;
  }
};
