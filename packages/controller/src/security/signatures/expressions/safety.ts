import { type CveSignature, safeties } from '@rushhour/contract';
import { attemptValues } from './attempt-values.ts';

type Safety = CveSignature['safety'];
type Judged = Pick<CveSignature, 'requests' | 'responses' | 'payloads' | 'cweIDs' | 'tags' | 'maxAttempts' | 'combine'>;

const intrusiveTags = new Set([
  'intrusive',
  'fuzz',
  'fuzzing',
  'bruteforce',
  'brute-force',
  'fileupload',
  'file-upload',
]);
/** Uncontrolled consumption of resources and its kin. */
const exhaustion = new Set([
  'CWE-400',
  'CWE-401',
  'CWE-404',
  'CWE-405',
  'CWE-407',
  'CWE-409',
  'CWE-674',
  'CWE-770',
  'CWE-771',
  'CWE-772',
  'CWE-776',
  'CWE-834',
  'CWE-835',
  'CWE-1333',
]);
const writeVerbs = /^\s*(?:SET|DEL|FLUSHALL|FLUSHDB|CONFIG SET|STOR|DELE|APPE|MKD|RMD|SLAVEOF|REPLICAOF|SHUTDOWN)\b/im;
const executableLooks = [
  /\b(?:curl|wget|fetch|tftp)\b[^\n]{0,200}(?:\||;|&&)\s*(?:ba|z|da|k)?sh\b/i,
  /powershell(?:\.exe)?[^\n]{0,120}(?:-enc|-e\s|downloadstring|downloadfile|iex|invoke-expression)/i,
  /certutil[^\n]{0,80}-urlcache/i,
  /bash\s+-i\s+>&|\/dev\/tcp\//i,
  /\bmkfifo\b[^\n]{0,120}\bnc\b/i,
];
const maxBase64 = 8192;
const longBase64 = new RegExp(`[A-Za-z0-9+/]{${maxBase64},}`);
const maxRepeats = 100;

/** How far from harmless a signature is, from what it says and what it sends. */
export const safetyOf = (signature: Judged): Safety => {
  const tags = signature.tags.split(',');
  if (
    tags.includes('dos') ||
    signature.cweIDs.some((cwe) => exhaustion.has(cwe)) ||
    attemptValues(signature, () => []).length > maxRepeats
  ) {
    return 'dos';
  }
  if (tags.some((tag) => intrusiveTags.has(tag)) || signature.requests.some(changesSomething)) return 'intrusive';
  return looksExecutable(signature) ? 'unreviewed' : 'benign';
};

/** Is `left` nearer to harmless than `right`? */
export const isSafer = (left: Safety, right: Safety) => safeties.indexOf(left) < safeties.indexOf(right);

const changesSomething = (request: CveSignature['requests'][number]) => {
  if (request.kind === 'dns') return false;
  if (request.kind === 'raw')
    return request.encoding !== 'hex' && writeVerbs.test(textOf(request.data, request.encoding));
  const { method, body = '', headers = [] } = request;
  if (/^(PUT|DELETE|PATCH)$/i.test(method) && body !== '') return true;
  const type = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? '';
  return /multipart\/form-data/i.test(type) && /filename\s*=/i.test(textOf(body, request.bodyEncoding));
};

const textOf = (text: string, encoding: string | undefined) =>
  encoding === 'base64' ? Buffer.from(text, 'base64').toString('latin1') : text;

const looksExecutable = ({ requests, payloads }: Judged) =>
  [...requests.flatMap(textsOf), ...payloads.flatMap(({ values = [] }) => values)].some(
    (text) => hasProgram(text) || longBase64.test(text) || executableLooks.some((pattern) => pattern.test(text)),
  );

const textsOf = (request: CveSignature['requests'][number]): string[] => {
  if (request.kind === 'dns') return [request.qname];
  if (request.kind === 'raw') {
    const data = request.encoding === 'hex' ? Buffer.from(request.data, 'hex').toString('latin1') : request.data;
    return [textOf(data, request.encoding)];
  }
  return [
    request.path,
    textOf(request.body ?? '', request.bodyEncoding),
    ...(request.headers ?? []).map(({ value }) => value),
  ];
};

/** The beginnings of programs of Linux and Windows. */
const hasProgram = (text: string) => text.includes('\x7fELF') || /MZ[\s\S]{58,1024}PE\0\0/.test(text);
