import type { CveSignature, SigRequest } from '@rushhour/contract';
import type { Issue } from '../../../errors.ts';
import { cvssScoreOf } from './cvss.ts';
import { hostInTarget, isReservedHost, outOfBandHostIn } from './foreign-hosts.ts';
import { type Renderable, renderSignature } from './render.ts';
import { TemplateError } from './template-error.ts';

type Checked = Renderable & Pick<CveSignature, 'cvssScore' | 'cvssVector' | 'cvssVersion'>;

const maxContentBytes = 4 * 1_048_576;
const scoreTolerance = 0.05;

/** Everything that stands against a signature whose shape is right. */
export const signatureIssues = (signature: Checked): Issue[] => [
  ...cvssIssues(signature),
  ...signature.requests.flatMap((request, i) => requestIssues(request, `/requests/${i}`)),
  ...kindIssues(signature.requests),
  ...answerIssues(signature),
  ...payloadIssues(signature),
  ...hostIssues(signature),
  ...renderIssues(signature),
];

const issue = (path: string, code: string, message: string): Issue => ({ path, code, message });

/** Of a vector of version 4.0 the part that is always there: a score may be that of it alone. */
const baseOf = (vector: string) => vector.split('/').slice(0, 12).join('/');

const cvssIssues = ({ cvssScore, cvssVector, cvssVersion }: Checked): Issue[] => {
  if (cvssVector === '') return [];
  const found = cvssScoreOf(cvssVector);
  if (found === undefined) return [issue('/cvssVector', 'BAD_VECTOR', 'is no CVSS vector')];
  if (cvssVersion !== '' && cvssVersion !== found.version) {
    return [issue('/cvssVersion', 'CVSS_MISMATCH', `the vector is of version ${found.version}`)];
  }
  const isNear = (score = Number.NaN) => Math.abs(score - (cvssScore ?? 0)) < scoreTolerance;
  if (cvssScore === null || isNear(found.score) || isNear(cvssScoreOf(baseOf(cvssVector))?.score)) return [];
  return [issue('/cvssScore', 'CVSS_MISMATCH', `the vector has a score of ${found.score}`)];
};

const requestIssues = (request: SigRequest, path: string): Issue[] => {
  const issues: Issue[] = [];
  if (request.kind === 'raw') {
    const { data, encoding = 'text' } = request;
    const hex = data.replace(/\{\{.*?\}\}/gs, '').replace(/\s+/g, '');
    if (encoding === 'hex' && !/^([0-9a-fA-F]{2})*$/.test(hex))
      issues.push(issue(`${path}/data`, 'BAD_HEX', 'is not hexadecimal'));
    if (encoding === 'base64' && !isBase64(data)) issues.push(issue(`${path}/data`, 'BAD_BASE64', 'is not base64'));
    if (data === '') issues.push(issue(`${path}/data`, 'EMPTY', 'sends nothing'));
  }
  if (request.kind === 'http') {
    const { method, bodyEncoding, body = '' } = request;
    if (/[\r\n]/.test(method)) issues.push(issue(`${path}/method`, 'PATTERN', 'must be one line'));
    if (bodyEncoding === 'base64' && !isBase64(body)) issues.push(issue(`${path}/body`, 'BAD_BASE64', 'is not base64'));
  }
  return issues;
};

const isBase64 = (text: string) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

/** One exchange has one protocol. */
const kindIssues = (requests: readonly SigRequest[]): Issue[] => {
  const familyOf = (request: SigRequest) =>
    request.kind === 'raw' ? `${request.kind} ${request.transport} ${request.tls ?? false}` : request.kind;
  const [first] = requests;
  const issues = requests.flatMap((request, i) =>
    first === undefined || familyOf(request) === familyOf(first)
      ? []
      : [issue(`/requests/${i}/kind`, 'MIXED_KINDS', 'all requests of a signature go the same way as the first')],
  );
  if (first?.kind === 'dns' && requests.length > 1) {
    issues.push(issue('/requests/1', 'MIXED_KINDS', 'a signature asks one DNS question'));
  }
  return issues;
};

const answerIssues = ({ requests, responses }: Checked): Issue[] =>
  responses.flatMap(({ when, idx, bodyEncoding, body = '' }, i) => {
    const answered = when?.requestIdx ?? idx;
    const isKnown = answered < requests.length;
    return [
      ...(isKnown
        ? []
        : [issue(`/responses/${i}/when/requestIdx`, 'NO_SUCH_REQUEST', `there is no request ${answered}`)]),
      ...(bodyEncoding === 'base64' && !isBase64(body)
        ? [issue(`/responses/${i}/body`, 'BAD_BASE64', 'is not base64')]
        : []),
    ];
  });

const payloadIssues = ({ payloads }: Checked): Issue[] => {
  const names = new Set<string>();
  return payloads.flatMap(({ name, values, dictionaryId }, i) => {
    const issues: Issue[] = [];
    if (names.has(name)) issues.push(issue(`/payloads/${i}/name`, 'DUPLICATE', 'is taken by another payload'));
    names.add(name);
    if ((values === undefined) === (dictionaryId === undefined)) {
      issues.push(issue(`/payloads/${i}`, 'ONE_OF', 'has either values or a dictionaryId'));
    }
    return issues;
  });
};

/** Attempts go to the server of the task and to nobody else, whatever a message says. */
const hostIssues = ({ requests, payloads, variables }: Checked): Issue[] => {
  const found = requests.flatMap((request, i) => {
    if (request.kind !== 'http') return [];
    const named = hostInTarget(request.path);
    const target =
      named !== undefined && !isBound(named) && !isReservedHost(named) ? [`/requests/${i}/path`, named] : undefined;
    const hosts = (request.headers ?? []).flatMap(({ name, value }, h) =>
      name.toLowerCase() === 'host' && !isBound(value) && !isReservedHost(value.trim())
        ? [[`/requests/${i}/headers/${h}`, value]]
        : [],
    );
    return [...(target ? [target] : []), ...hosts] as [string, string][];
  });
  const all = JSON.stringify({ requests, payloads, variables });
  const waiting = outOfBandHostIn(all);
  return [
    ...found.map(([path, host]) =>
      issue(path, 'FOREIGN_HOST', `names the host ${host.slice(0, 80)}; use {{Hostname}} or a reserved name`),
    ),
    ...(waiting === undefined
      ? []
      : [issue('/requests', 'FOREIGN_HOST', `would call ${waiting}; use {{interactsh-url}}`)]),
    ...(Buffer.byteLength(all) > maxContentBytes
      ? [issue('/requests', 'PAYLOAD_TOO_LARGE', `the content has more than ${maxContentBytes} bytes`)]
      : []),
  ];
};

const isBound = (host: string) =>
  /^\{\{(?:BaseURL|RootURL|Hostname|Host|interactsh-url)\}\}(?::\{\{Port\}\})?$/.test(host.trim());

const trial = { seed: 'check', target: { host: 'server.test', port: 80, isTls: false }, limit: 3 };

/** Renders the first attempts: what is unknown, not allowed or too large shows itself. */
const renderIssues = (signature: Checked): Issue[] => {
  try {
    renderSignature(signature, { ...trial, dictionary: () => ['value'] });
    return [];
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return [issue('/requests', error.code, error.message)];
  }
};
