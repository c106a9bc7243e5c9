import type { CveSignature, SigRequest } from '@rushhour/contract';
import { stringify } from 'yaml';

type Http = Extract<SigRequest, { kind: 'http' }>;

/** A template of nuclei; undefined for what it cannot say: bodies that are no text, and UDP. */
export const toNuclei = (signature: CveSignature): string | undefined => {
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
