import type { CveDraft, SigRequest } from '@rushhour/contract';
import { categoryOf } from './category.ts';
import {
  isMembers,
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
import { readYaml } from './read-yaml.ts';
import { Refusal, refusing, type TemplateFile, type TemplateOutcome } from './template.ts';

const maxPayloads = 2000;

/** Cases of gotestwaf: one signature for each combination of encoder and placeholder. */
export const readGotestwaf = ({ path, bytes }: TemplateFile): TemplateOutcome[] => {
  try {
    const file = requireMembers(readYaml(bytes), 'the file');
    const payloads = textsOf(file['payload']).filter((payload) => payload !== '');
    if (payloads.length === 0) throw new Refusal('the file has no payload');
    if (payloads.length > maxPayloads) throw new Refusal(`the file has more than ${maxPayloads} payloads`);
    const encoders = textsOf(file['encoder']);
    return (encoders.length > 0 ? encoders : ['Plain']).flatMap((encoder) =>
      listOf(file['placeholder']).map((placeholder) => caseOf({ file, path, payloads, encoder, placeholder })),
    );
  } catch (error) {
    if (error instanceof Refusal) return [{ templateId: path, refused: error.message }];
    throw error;
  }
};

interface Case {
  readonly file: Members;
  readonly path: string;
  readonly payloads: readonly string[];
  readonly encoder: string;
  readonly placeholder: unknown;
}

const caseOf = ({ file, path, payloads, encoder, placeholder }: Case): TemplateOutcome => {
  const [name, options] = isMembers(placeholder)
    ? (Object.entries(placeholder)[0] ?? ['', {}])
    : [textOf(placeholder), {}];
  const base = path
    .replace(/\.ya?ml$/i, '')
    .split('/')
    .slice(-2)
    .join('/');
  const templateId = `${base}/${encoder}/${name}`;
  return refusing(templateId, () => {
    const encode = encoders[encoder.toLowerCase()];
    if (encode === undefined) throw new Refusal(`the encoder ${encoder.slice(0, 40)} is not known`);
    const type = textOf(file['type']);
    const isBenign = /false-?pos/i.test(`${path} ${type}`);
    const values = [...new Set(payloads.map((payload) => encode(payload)))];
    const draft: CveDraft = {
      name: nameOf(templateId, templateId),
      severity: isBenign ? 'info' : 'medium',
      category: isBenign ? 'other' : categoryOf(type, base),
      tags: tagsOf(['gotestwaf', ...base.split('/'), encoder, name, ...(isBenign ? ['benign'] : [])]),
      requests: [requestOf(name, membersOf(options))],
      payloads: [{ name: 'payload', values }],
      maxAttempts: Math.min(100, values.length),
      expect: { action: isBenign ? 'allow' : 'block' },
      licence: 'MIT',
    };
    const warnings = values.length > 100 ? ['only the first 100 payloads are sent unless maxAttempts is raised'] : [];
    return { templateId, source: 'gotestwaf', sourceRef: templateId.slice(0, 250), draft, warnings };
  });
};

const encoders: Readonly<Record<string, (payload: string) => string>> = {
  plain: (payload) => payload,
  url: (payload) =>
    encodeURIComponent(payload.toWellFormed()).replace(
      /[!'()*]/g,
      (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
    ),
  base64: (payload) => Buffer.from(payload).toString('base64'),
  base64flat: (payload) => Buffer.from(payload).toString('base64').replace(/=+$/, ''),
  jsunicode: (payload) =>
    [...payload].map((mark) => `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`).join(''),
  xmlentity: (payload) => payload.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`),
};

const http = (request: Partial<Extract<SigRequest, { kind: 'http' }>>): SigRequest => ({
  idx: 0,
  kind: 'http',
  method: 'GET',
  path: '/',
  ...request,
});
const posted = (type: string, body: string) =>
  http({ method: 'POST', headers: [{ name: 'Content-Type', value: type }], body });
const escaped = '{{replace(replace(payload, "\\\\", "\\\\\\\\"), "\\"", "\\\\\\"")}}';
const envelope = (content: string) =>
  `<?xml version="1.0"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><value>${content}</value></soap:Body></soap:Envelope>`;
const boundary = 'rushhour-boundary';

const requestsByPlaceholder: Readonly<Record<string, () => SigRequest>> = {
  urlpath: () => http({ path: '/{{url_encode(payload)}}' }),
  urlparam: () => http({ path: '/?value={{url_encode(payload)}}' }),
  header: () => http({ headers: [{ name: 'X-Value', value: '{{payload}}' }] }),
  useragent: () => http({ headers: [{ name: 'User-Agent', value: '{{payload}}' }] }),
  requestbody: () => http({ method: 'POST', body: '{{payload}}' }),
  htmlform: () => posted('application/x-www-form-urlencoded', 'value={{url_encode(payload)}}'),
  htmlmultipartform: () =>
    posted(
      `multipart/form-data; boundary=${boundary}`,
      `--${boundary}\r\nContent-Disposition: form-data; name="value"\r\n\r\n{{payload}}\r\n--${boundary}--\r\n`,
    ),
  jsonbody: () => posted('application/json', `{"test": true, "value": "${escaped}"}`),
  jsonrequest: () => posted('application/json', `{"value": "${escaped}"}`),
  xmlbody: () => posted('text/xml', '{{payload}}'),
  soapbody: () => posted('text/xml', envelope('{{html_escape(payload)}}')),
  graphql: () => posted('application/json', `{"query": "{ value(text: \\"${escaped}\\") }"}`),
};

const requestOf = (name: string, options: Members): SigRequest => {
  const build = requestsByPlaceholder[name.toLowerCase()];
  if (build) return build();
  if (name.toLowerCase() !== 'rawrequest')
    throw new Refusal(`the placeholder ${name.slice(0, 40) || 'without a name'} is not supported`);
  const withPayload = (text: string) => literal(text).replaceAll('{{"{{"}}payload}}', '{{payload}}');
  return http({
    method: withPayload(textOf(options['method']) || 'GET'),
    path: withPayload(textOf(options['path']) || '/'),
    headers: Object.entries(membersOf(options['headers'])).map(([key, value]) => ({
      name: key,
      value: withPayload(textOf(value)),
    })),
    body: withPayload(textOf(options['body'])),
  });
};
