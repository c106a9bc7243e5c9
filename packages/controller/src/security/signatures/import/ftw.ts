import type { CveDraft, SigRequest } from '@rushhour/contract';
import { isReservedHost } from '../expressions/foreign-hosts.ts';
import { negativeTag } from '../negative-tag.ts';
import { withoutCallbacks } from './callback-hosts.ts';
import { categoryOf } from './category.ts';
import {
  clipped,
  listOf,
  literal,
  type Members,
  membersOf,
  nameOf,
  requireMembers,
  tagsOf,
  textOf,
  textsOf,
} from './members.ts';
import { readRawBytes, versionOf } from './raw-request.ts';
import { readYaml } from './read-yaml.ts';
import { type ReadTemplate, Refusal, refusing, type TemplateFile, type TemplateOutcome } from './template.ts';

const maxRepeat = 1_048_576;

/**
 * Carries out `{{.Payload}}`, `{{ "A" | repeat 10 }}`, `{{ repeat 10 "A" }}` and `{{ randAlphaNum 8 }}`; other calls are
 * refused. What looks random is always the same, so that a test sends the same bytes each time.
 */
const withoutGoTemplates = (text: string, payload?: string): string =>
  text.replaceAll(/\{\{(.*?)\}\}/gs, (whole: string, call: string) => carriedOut(whole, call.trim(), payload));

const carriedOut = (whole: string, call: string, payload: string | undefined): string => {
  if (payload !== undefined && /^-?\s*\.Payload\s*-?$/.test(call)) return payload;
  const piped = /^"((?:[^"\\]|\\.)*)"\s*\|\s*repeat\s+(\d+)$/.exec(call);
  const direct = /^repeat\s+(\d+)\s+"((?:[^"\\]|\\.)*)"$/.exec(call);
  const random = /^randAlphaNum\s+(\d+)$/.exec(call);
  if (piped) return repeated(piped[1] ?? '', Number(piped[2]));
  if (direct) return repeated(direct[2] ?? '', Number(direct[1]));
  if (random) return repeated('aZ4kQ7mX2b', Number(random[1])).slice(0, Number(random[1]));
  // A function with arguments or after a pipe; anything else is a payload that contains braces.
  if (/^-?\s*[A-Za-z]\w*\s+\S/.test(call) || /\|\s*[A-Za-z]/.test(call)) {
    throw new Refusal(`the template function in ${whole.slice(0, 60)} is not allowed`);
  }
  return whole;
};

const repeated = (text: string, times: number) => {
  if (text.length * times > maxRepeat)
    throw new Refusal(`repeat ${times} makes a text of more than ${maxRepeat} characters`);
  return text.repeat(times);
};

const maxTests = 1000;

/** Tests of the OWASP Core Rule Set, formats 2 and 3: one signature per test. */
export const readFtw = ({ path, bytes }: TemplateFile): TemplateOutcome[] => {
  let file: Members;
  try {
    file = requireMembers(readYaml(withoutCallbacks(bytes)), 'the file');
    if (listOf(file['tests']).length > maxTests) throw new Refusal(`the file has more than ${maxTests} tests`);
  } catch (error) {
    if (error instanceof Refusal) return [{ templateId: path, refused: error.message }];
    throw error;
  }
  return listOf(file['tests']).map((test, i) => {
    const members = membersOf(test);
    const ruleId = textOf(file['rule_id']);
    const title =
      textOf(members['test_title']) || [ruleId, numberIn(members) || String(i + 1)].filter(Boolean).join('-');
    return refusing(title, () => signatureOf({ file, test: members, title, ruleId, path }));
  });
};

const numberIn = (test: Members) => textOf(test['id']) || textOf(test['test_id']);

interface Test {
  readonly file: Members;
  readonly test: Members;
  readonly title: string;
  readonly ruleId: string;
  readonly path: string;
}

const signatureOf = ({ file, test, title, ruleId, path }: Test): ReadTemplate => {
  const warnings: string[] = [];
  const stages = stagesOf(file, test);
  if (stages.length === 0) throw new Refusal('the test has no stages');
  if (stages.length > 20) throw new Refusal('the test has more than 20 stages');
  const meta = membersOf(file['meta']);
  const description =
    textOf(test['description']) ||
    textOf(test['desc']) ||
    textOf(test['test_description']) ||
    textOf(meta['description']);
  const folder = path.split('/').at(-2) ?? '';
  const expectation = expectationOf(stages, ruleId);
  const draft: CveDraft = {
    name: nameOf(`${title} ${description}`, title),
    description: clipped(description, 4096),
    severity: 'unknown',
    category: categoryOf(folder, ...textsOf(meta['tags']), textOf(meta['name']), description),
    tags: tagsOf(['ftw', ...textsOf(meta['tags']), folder, ...(expectation.action === 'allow' ? [negativeTag] : [])]),
    requests: stages.map((stage, idx) =>
      requestOf(membersOf(stage['input']), { idx, warnings, payload: payloadOf(test) }),
    ),
    expect: expectation,
    licence: 'Apache-2.0',
  };
  return { templateId: title, source: 'ftw', sourceRef: clipped(title, 250), draft, warnings };
};

/** Replaces `{{.Payload}}` of a template. */
const payloadOf = (test: Members) => (test['payload'] === undefined ? undefined : textOf(test['payload']));

/** The stages of a test. A test with a payload has one stage: its own template merged over the template of the file. */
const stagesOf = (file: Members, test: Members): Members[] => {
  if (payloadOf(test) === undefined && test['template'] === undefined) {
    return listOf(test['stages']).map((stage) => membersOf(membersOf(stage)['stage'] ?? stage));
  }
  if (listOf(test['stages']).length > 0) throw new Refusal('a test has either stages or a payload');
  const input = { ...membersOf(file['template']), ...membersOf(test['template']) };
  if (Object.keys(input).length === 0) throw new Refusal('there is no template for the payload');
  return [{ input, output: test['output'] }];
};

/**
 * A test that only lists rules that must not match says nothing of the other rules: it is neither an attack to be
 * stopped nor harmless traffic.
 */
const expectationOf = (stages: readonly Members[], ruleId: string): NonNullable<CveDraft['expect']> => {
  const ids = new Set<string>();
  let expectsNoAlert = false;
  for (const { output } of stages) {
    const { log, log_contains, no_log_contains, expect_error, status } = membersOf(output) as Record<string, unknown>;
    for (const id of textsOf(membersOf(log)['expect_ids'])) ids.add(id);
    for (const [, id = ''] of textOf(log_contains).matchAll(/id[\s"\\]+(\d+)/g)) ids.add(id);
    if (textOf(membersOf(log)['match_regex']) !== '' || (log_contains && ids.size === 0)) ids.add(ruleId);
    const isStopped = expect_error === true || textsOf(status).some((code) => code === '403' || code === '400');
    if (isStopped && ids.size === 0) ids.add(ruleId);
    if (no_log_contains || listOf(membersOf(log)['no_expect_ids']).length > 0) expectsNoAlert = true;
  }
  const ruleIDs = [...ids].filter((id) => id !== '' && id.length <= 64).slice(0, 100);
  return expectsNoAlert && ruleIDs.length === 0 ? { action: 'allow' } : { action: 'block', ruleIDs };
};

interface Stage {
  readonly idx: number;
  readonly warnings: string[];
  readonly payload: string | undefined;
}

/** A request with all the headers, and in the order, that go-ftw sends. */
const requestOf = (input: Members, { idx, warnings, payload }: Stage): SigRequest => {
  const encoded = textOf(input['encoded_request']);
  if (encoded !== '') return readRawBytes(Buffer.from(encoded, 'base64'), idx);
  const given = headersOf(input['headers'], warnings, payload);
  const data = textOf(Array.isArray(input['data']) ? input['data'].join('\r\n') : input['data']);
  const own = textOf(input['encoded_data']);
  const bytes = own === '' ? Buffer.from(withoutGoTemplates(data, payload)) : Buffer.from(own, 'base64');
  const method = textOf(input['method']) || 'GET';
  const isCompleted = input['autocomplete_headers'] !== false && input['stop_magic'] !== true;
  const { headers, body } = completed({ method, headers: given, body: bytes }, isCompleted);
  return {
    idx,
    kind: 'http',
    method: literal(method),
    path: literal(withoutGoTemplates(textOf(input['uri']) || '/', payload)),
    version: versionOf((textOf(input['version']) || 'HTTP/1.1').replace(/^HTTP\//i, '')),
    headers: headers.map(([name, value]) => ({ name: literal(name), value: literal(value) })),
    ...(body.length > 0 && { body: body.toString('base64'), bodyEncoding: 'base64' as const }),
    exact: true,
  };
};

type Pair = readonly [name: string, value: string];

interface Message {
  readonly method: string;
  readonly headers: readonly Pair[];
  readonly body: Buffer;
}

const formType = 'application/x-www-form-urlencoded';

/** As go-ftw completes a request: type and escaping of forms, line ends of multipart bodies, connection and length. */
const completed = ({ method, headers: given, body: data }: Message, isCompleted: boolean) => {
  const headers = [...given];
  const has = (wanted: string) => headers.some(([name]) => name.toLowerCase() === wanted);
  const types = () => headers.filter(([name]) => name.toLowerCase() === 'content-type').map(([, value]) => value);
  let body = data;
  if (isCompleted && body.length > 0) {
    if (!has('content-type')) headers.push(['Content-Type', formType]);
    if (types().some((type) => type.toLowerCase() === formType)) body = escapedForm(body);
  }
  if (types().some((type) => type.toLowerCase().includes('multipart/form-data;'))) {
    body = Buffer.from(body.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
  }
  if (!isCompleted) return { headers, body };
  if (!has('connection')) headers.push(['Connection', 'close']);
  const hasLength = body.length > 0 || /^POST|PUT|PATCH|DELETE$/.test(method);
  if (hasLength && !has('content-length')) headers.push(['Content-Length', String(body.length)]);
  return { headers, body };
};

const queryEscaped = (bytes: Buffer) =>
  [...bytes]
    .map((byte) => {
      const letter = String.fromCharCode(byte);
      if (letter === ' ') return '+';
      return /[A-Za-z0-9_.~-]/.test(letter) ? letter : `%${byte.toString(16).padStart(2, '0').toUpperCase()}`;
    })
    .join('');

/** Names and values of a form, escaped unless something in it already is. */
const escapedForm = (data: Buffer): Buffer => {
  const text = data.toString('latin1');
  if (/[%+]/.test(text)) return data;
  const parts = text.split('&').map((part) => {
    const at = part.indexOf('=');
    const pieces = at < 0 ? [part] : [part.slice(0, at), part.slice(at + 1)];
    return pieces.map((piece) => queryEscaped(Buffer.from(piece, 'latin1'))).join('=');
  });
  // A separator at the end is not followed by another name.
  if (text.endsWith('&')) parts.pop();
  return Buffer.from(parts.join('&'));
};

/** Headers are an object, or a list of names and values. */
const pairsOf = (headers: unknown): Pair[] =>
  Array.isArray(headers)
    ? headers.map((header) => [textOf(membersOf(header)['name']), textOf(membersOf(header)['value'])])
    : Object.entries(membersOf(headers)).map(([name, value]) => [name, textOf(value)]);

const headersOf = (headers: unknown, warnings: string[], payload: string | undefined): Pair[] =>
  pairsOf(headers).map(([name, value]) => {
    const isForeign = /^host$/i.test(name) && value.trim() !== '' && !isReservedHost(value.trim());
    if (isForeign) warnings.push(`the host ${value.slice(0, 60)} is replaced by localhost`);
    return [name, isForeign ? 'localhost' : withoutGoTemplates(value, payload)];
  });
