import type { CveSignature, SigRequest } from '@rushhour/contract';
import { stringify } from 'yaml';
import { renderSignature } from '../expressions/render.ts';

const maxTests = 100;
const target = { host: 'localhost', port: 80, isTls: false };

/** Tests in the form of the Core Rule Set, one for each attempt; undefined for what is no HTTP. */
export const toFtw = (signature: CveSignature): string | undefined => {
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
