import { CveDraft, type CveExportBody, type CveSignature, type SigRequest } from '@rushhour/contract';
import { stringify } from 'yaml';
import { writeZip } from '../../../assets/archives/write-zip.ts';
import { assertAllFound } from '../../../crud.ts';
import type { Download } from '../../../handler.ts';
import { findSignatures } from '../../../store/security/cve.ts';
import type { Store } from '../../../store/store.ts';
import { renderSignature } from '../expressions/render.ts';
import { nativeSchema } from '../import/native.ts';

type Http = Extract<SigRequest, { kind: 'http' }>;

/** A template of nuclei; undefined for what it cannot say: bodies that are no text, and UDP. */
const toNuclei = (signature: CveSignature): string | undefined => {
  const part = partOf(signature.requests);
  if (part === undefined) return undefined;
  const { payloads, combine, responses } = signature;
  if (payloads.some(({ values }) => values === undefined)) return undefined;
  const status = responses.map((response) => response.status).filter((code) => code !== undefined);
  const matchers = status.length > 0 ? [{ type: 'status', status: [...new Set(status)] }] : undefined;
  const lists =
    payloads.length > 0
      ? { attack: combine, payloads: Object.fromEntries(payloads.map(({ name, values }) => [name, values])) }
      : {};
  const [kind, block] = part;
  const document = {
    id: (signature.sourceRef || `signature-${signature.id}`).replace(/[^A-Za-z0-9_-]+/g, '-'),
    info: infoOf(signature),
    ...(Object.keys(signature.variables).length > 0 && { variables: signature.variables }),
    [kind]: [{ ...block, ...lists, ...(matchers && { matchers }) }],
  };
  return stringify(document, { lineWidth: 0 });
};

const infoOf = (signature: CveSignature) => ({
  name: signature.name,
  author: 'rushhour',
  severity: signature.severity,
  ...(signature.description !== '' && { description: signature.description }),
  ...(signature.remediation !== '' && { remediation: signature.remediation }),
  ...(signature.references.length > 0 && { reference: signature.references.map(({ value }) => value) }),
  classification: {
    ...(signature.cvssVector !== '' && { 'cvss-metrics': signature.cvssVector }),
    ...(signature.cvssScore !== null && { 'cvss-score': signature.cvssScore }),
    ...(signature.cveIDs.length > 0 && { 'cve-id': signature.cveIDs.join() }),
    ...(signature.cweIDs.length > 0 && { 'cwe-id': signature.cweIDs.join() }),
    ...(signature.cpe !== '' && { cpe: signature.cpe }),
  },
  metadata: { vendor: signature.vendor, product: signature.product },
  tags: signature.tags,
});

const partOf = (requests: CveSignature['requests']): [string, object] | undefined => {
  const [first] = requests;
  if (first?.kind === 'dns') return ['dns', { name: first.qname, type: first.qtype ?? 'A' }];
  if (first?.kind === 'http') {
    const raw = (requests as Http[]).map(rawOf);
    return raw.every((text) => text !== undefined) ? ['http', { raw }] : undefined;
  }
  if (first?.kind !== 'raw' || first.transport === 'udp') return undefined;
  const inputs = requests.map((request) => {
    const { data, encoding = 'text' } = request as Extract<SigRequest, { kind: 'raw' }>;
    if (encoding === 'text') return { data };
    return { data: encoding === 'hex' ? data : Buffer.from(data, 'base64').toString('hex'), type: 'hex' };
  });
  const host = first.tls ? 'tls://{{Hostname}}' : '{{Hostname}}';
  return ['tcp', { inputs, host: [host], ...(first.port !== undefined && { port: first.port }) }];
};

const rawOf = ({ method, path, version = '1.1', headers = [], body = '', bodyEncoding }: Http): string | undefined => {
  if (bodyEncoding === 'base64' && body !== '') return undefined;
  const host = headers.some(({ name }) => name.toLowerCase() === 'host') ? [] : ['Host: {{Hostname}}'];
  const lines = [
    `${method} ${path} HTTP/${version}`,
    ...host,
    ...headers.map(({ name, value }) => `${name}: ${value}`),
  ];
  return `${lines.join('\n')}\n\n${body}`;
};

const maxTests = 100;
const target = { host: 'localhost', port: 80, isTls: false };

/** Tests in the form of the Core Rule Set, one for each attempt; undefined for what is no HTTP. */
const toFtw = (signature: CveSignature): string | undefined => {
  if (signature.requests.some((request: SigRequest) => request.kind !== 'http')) return undefined;
  if (signature.payloads.some(({ values }) => values === undefined)) return undefined;
  const attempts = renderSignature(signature, {
    seed: String(signature.id),
    target,
    dictionary: () => [],
    limit: maxTests,
  });
  const ruleIDs = (signature.expect.ruleIDs ?? []).map(Number).filter((id) => Number.isSafeInteger(id) && id > 0);
  const log =
    signature.expect.action === 'allow'
      ? { no_expect_ids: ruleIDs.length > 0 ? ruleIDs : [signature.id] }
      : { expect_ids: ruleIDs };
  const document = {
    meta: {
      author: 'rushhour',
      description: signature.description || signature.name,
      tags: signature.tags.split(',').filter(Boolean),
    },
    rule_id: ruleIDs[0] ?? signature.id,
    tests: attempts.map(({ requests }, i) => ({
      test_id: i + 1,
      desc: signature.name,
      stages: requests.map((request) => ({ input: inputOf(request), output: { log } })),
    })),
  };
  return stringify(document, { lineWidth: 0 });
};

const inputOf = (request: ReturnType<typeof renderSignature>[number]['requests'][number]) => {
  if (request.kind !== 'http') return {};
  const { method, path, version, headers, body } = request;
  const text = body.toString('utf8');
  const isText = Buffer.from(text).equals(body) && !text.includes('{{');
  return {
    dest_addr: '127.0.0.1',
    port: 80,
    method,
    uri: path,
    version: `HTTP/${version === '2' ? '1.1' : version}`,
    headers: { Host: 'localhost', ...Object.fromEntries(headers.map(({ name, value }) => [name, value])) },
    ...(body.length > 0 && (isText ? { data: text } : { encoded_data: body.toString('base64') })),
  };
};

const members = [...Object.keys(CveDraft.properties), 'source', 'sourceRef', 'fingerprint'];

/** Our own form, without what belongs to this controller alone. */
const toNative = (signatures: readonly CveSignature[]) => {
  const portable = signatures.map((signature) =>
    Object.fromEntries(Object.entries(signature).filter(([name]) => members.includes(name))),
  );
  return JSON.stringify({ schema: nativeSchema, signatures: portable }, null, 1);
};

const writers = { nuclei: toNuclei, ftw: toFtw };

/** Signatures as a file: JSON in our own form, YAML of other tools, several of those in a zip. */
export const exportSignatures = async (store: Store, body: CveExportBody): Promise<Download> => {
  const { array, format = 'native', includeDisabled = false } = body;
  const found = await findSignatures(store.read, array);
  assertAllFound(
    'signature',
    array,
    found.map(({ id }) => id),
  );
  const wanted = found.filter(({ enabled }) => enabled || includeDisabled);
  if (format === 'native')
    return download('application/json', 'signatures.json', toNative(wanted), found.length - wanted.length);
  const written = wanted.flatMap((signature) => {
    const text = writers[format](signature);
    return text === undefined ? [] : [{ name: `${fileNameOf(signature)}.yaml`, content: text }];
  });
  const skipped = found.length - written.length;
  const [only] = written;
  if (only && written.length === 1) return download('application/yaml', only.name, only.content, skipped);
  return download('application/zip', `signatures-${format}.zip`, writeZip(written), skipped);
};

const fileNameOf = ({ id, sourceRef, name }: CveSignature) =>
  `${id}-${
    (sourceRef || name)
      .replace(/[^A-Za-z0-9.-]+/g, '_')
      .replace(/^[._]+|[._]+$/g, '')
      .slice(0, 80) || 'signature'
  }`;

const download = (type: string, name: string, body: Download['body'], skipped: number): Download => ({
  type,
  body,
  headers: { 'content-disposition': `attachment; filename="${name}"`, 'x-export-skipped': String(skipped) },
});
