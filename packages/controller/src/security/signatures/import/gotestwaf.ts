import type { CveDraft, SigRequest } from '@rushhour/contract';
import { grpcBody, grpcCallHeaders, textMessage } from '../../content/waf/grpc-call.ts';
import { withoutCallbacks } from './callback-hosts.ts';
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
    const file = requireMembers(readYaml(withoutCallbacks(bytes)), 'the file');
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
    const { request, put = (payload) => payload } = positionOf(name, membersOf(options));
    const encoded = [...new Set(payloads.map((payload) => encode(payload)))];
    const values = encoded.flatMap((payload) => put(payload) ?? []);
    if (values.length === 0) throw new Refusal('none of the payloads can be sent there');
    const draft: CveDraft = {
      name: nameOf(templateId, templateId),
      severity: isBenign ? 'info' : 'medium',
      category: isBenign ? 'other' : categoryOf(type, base),
      tags: tagsOf(['gotestwaf', ...base.split('/'), encoder, name, ...(isBenign ? ['benign'] : [])]),
      requests: [withBrowser(request)],
      payloads: [{ name: 'payload', values }],
      maxAttempts: Math.min(maxPayloads, values.length),
      expect: { action: isBenign ? 'allow' : 'block' },
      licence: 'MIT',
    };
    const left = encoded.length - values.length;
    const warnings = left > 0 ? [`${left} payloads make no valid address and are left out, as gotestwaf does`] : [];
    return { templateId, source: 'gotestwaf', sourceRef: templateId.slice(0, 250), draft, warnings };
  });
};

type HttpRequest = Extract<SigRequest, { kind: 'http' }>;

/** Where a payload goes. */
interface Placed {
  readonly request: HttpRequest;
  /** The payload as it stands there; undefined where it cannot. */
  readonly put?: (payload: string) => string | undefined;
}

const escapedByte = (byte: number) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`;

/** Escapes each byte whose letter is not kept. */
const escapedBut = (kept: RegExp) => (text: string) =>
  [...Buffer.from(text)]
    .map((byte) =>
      byte < 0x80 && kept.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : escapedByte(byte),
    )
    .join('');

/** `url.PathEscape`, `url.QueryEscape` and the path of a URL, as Go writes them. */
const segmentEscaped = escapedBut(/[A-Za-z0-9_.~$&+=:@-]/);
const queryEscaped = (text: string) => escapedBut(/[A-Za-z0-9_.~ -]/)(text).replaceAll(' ', '+');
const pathEscaped = escapedBut(/[A-Za-z0-9_.~$&+,/:;=@-]/);
const isValidPath = (path: string) => /^(?:[A-Za-z0-9_.~$&+,/:;=@!'()*[\]-]|%[0-9a-fA-F]{2})*$/.test(path);

const unescapedPath = (path: string) =>
  Buffer.from(
    Buffer.from(path)
      .toString('latin1')
      .replaceAll(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();

/** The target that Go sends for an address that ends so; undefined where it refuses the address. */
const targetOf = (text: string): string | undefined => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Go refuses addresses with them.
  if (/[\x00-\x1f\x7f]/.test(text)) return undefined;
  const [address = ''] = text.split('#', 1);
  const at = address.indexOf('?');
  const [path, query] = at < 0 ? [address, ''] : [address.slice(0, at), address.slice(at)];
  if (/%(?![0-9a-fA-F]{2})/.test(path)) return undefined;
  return `${isValidPath(path) ? path : pathEscaped(unescapedPath(path))}${query}`;
};

const xmlMarks: Readonly<Record<string, string>> = {
  ...{ '"': '&#34;', "'": '&#39;', '&': '&amp;', '<': '&lt;', '>': '&gt;' },
  ...{ '\t': '&#x9;', '\n': '&#xA;', '\r': '&#xD;' },
};
const xmlString = (payload: string) =>
  `<string>${payload.replace(/["'&<>\t\n\r]/g, (mark) => xmlMarks[mark] ?? mark)}</string>`;
const jsUnicode = (payload: string) =>
  payload.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const encoders: Readonly<Record<string, (payload: string) => string>> = {
  plain: (payload) => payload,
  url: segmentEscaped,
  base64: (payload) => Buffer.from(payload).toString('base64'),
  base64flat: (payload) => Buffer.from(payload).toString('base64').replaceAll('=', ''),
  jsunicode: jsUnicode,
  xmlentity: xmlString,
};

const http = (request: Partial<HttpRequest>): HttpRequest => ({
  idx: 0,
  kind: 'http',
  method: 'GET',
  path: '/',
  ...request,
});
const posted = (type: string, body: string, headers: HttpRequest['headers'] = []) =>
  http({ method: 'POST', headers: [...headers, { name: 'Content-Type', value: type }], body });

const parameter = 'a4f19c0b7e';
const boundary = '5f1d3c8e7a9b40d2c6e1f0a3b4d5c6e7f8091a2b3c4d5e6f708192a3b4c5';
const envelope = `<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"
	xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
	<soapenv:Body>
		<find>
			<ab${parameter}>{{payload}}</ab${parameter}>
		</find>
	</soapenv:Body>
</soapenv:Envelope>`;

/** A message of gRPC with one text, as base64. */
const grpcMessage = (payload: string) => grpcBody(textMessage(payload)).toString('base64');

const positions: Readonly<Record<string, (options: Members) => Placed>> = {
  urlpath: () => ({ request: http({ path: '{{payload}}' }), put: (payload) => targetOf(`/${payload}`) }),
  urlparam: () => ({ request: http({ path: '{{payload}}' }), put: (payload) => targetOf(`/?${parameter}=${payload}`) }),
  header: () => ({ request: http({ headers: [{ name: `X-${parameter}`, value: '{{payload}}' }] }), put: headerValue }),
  useragent: () => ({ request: http({ headers: [{ name: 'User-Agent', value: '{{payload}}' }] }), put: headerValue }),
  requestbody: () => ({ request: http({ method: 'POST', body: '{{payload}}' }) }),
  htmlform: () => ({ request: posted('application/x-www-form-urlencoded', `${parameter}={{payload}}`) }),
  htmlmultipartform: () => ({
    request: posted(
      `multipart/form-data; boundary=${boundary}`,
      `--${boundary}\r\nContent-Disposition: form-data; name="${parameter}"\r\n\r\n{{payload}}\r\n--${boundary}--\r\n`,
    ),
  }),
  jsonbody: () => ({ request: posted('application/json', '{{payload}}') }),
  jsonrequest: () => ({
    request: posted('application/json', `{"test": true, "${parameter}": "{{payload}}"}`),
    put: jsUnicode,
  }),
  xmlbody: () => ({ request: posted('application/xml', '{{payload}}') }),
  soapbody: () => ({
    request: posted('text/xml', envelope, [
      { name: 'SOAPAction', value: '"http://schemas.xmlsoap.org/soap/actor/next"' },
    ]),
    put: xmlString,
  }),
  graphql: ({ method }) =>
    textOf(method).toUpperCase() === 'GET'
      ? { request: http({ path: '/?query={{payload}}' }), put: queryEscaped }
      : { request: http({ method: 'POST', body: '{{payload}}' }) },
  grpc: () => ({
    request: http({
      method: 'POST',
      path: '/encoder.ServiceFooBar/foo',
      version: '2',
      headers: grpcCallHeaders,
      body: '{{base64_decode(payload)}}',
    }),
    put: grpcMessage,
  }),
};

/** Values of headers end at a line break: Go does not send them. */
const headerValue = (payload: string) => (/[\r\n\0]/.test(payload) ? undefined : payload);

const positionOf = (name: string, options: Members): Placed => {
  const position = positions[name.toLowerCase()];
  if (position) return position(options);
  if (name.toLowerCase() !== 'rawrequest')
    throw new Refusal(`the placeholder ${name.slice(0, 40) || 'without a name'} is not supported`);
  const withPayload = (text: string, payload = '{{payload}}') => literal(text).replaceAll('{{"{{"}}payload}}', payload);
  const path = textOf(options['path']);
  return {
    request: http({
      method: withPayload(textOf(options['method']) || 'GET'),
      path: withPayload(path.startsWith('/') ? path : `/${path}`, '{{path_escape(payload)}}'),
      headers: Object.entries(membersOf(options['headers'])).map(([key, value]) => ({
        name: key,
        value: withPayload(textOf(value)),
      })),
      body: withPayload(textOf(options['body'])),
    }),
  };
};

/** The headers of gotestwaf's own configuration. */
const browserHeaders = [
  { name: 'Pragma', value: 'no-cache' },
  { name: 'Cache-Control', value: 'no-cache' },
  { name: 'Upgrade-Insecure-Requests', value: '1' },
  {
    name: 'User-Agent',
    value:
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/122.0.0.0 Safari/537.36',
  },
  {
    name: 'Accept',
    value: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  },
  { name: 'Accept-Encoding', value: 'gzip, deflate, br, zstd' },
  { name: 'Accept-Language', value: 'en-US;q=0.8,en;q=0.7' },
];

const withBrowser = (request: HttpRequest): HttpRequest => {
  const own = request.headers ?? [];
  const names = new Set(own.map(({ name }) => name.toLowerCase()));
  const added = request.version === '2' ? [] : browserHeaders.filter(({ name }) => !names.has(name.toLowerCase()));
  return { ...request, headers: [...added, ...own] };
};
