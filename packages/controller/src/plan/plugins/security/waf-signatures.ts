import type { CveSignature, WafValues } from '@rushhour/contract';
import type { Attempt, HttpExchange } from '@rushhour/protocol';
import { type PlaceholderOptions, signaturePlaceholder } from '../../../security/content/waf/placeholders.ts';
import { type RenderedAttempt, renderSignature } from '../../../security/signatures/expressions/render.ts';
import { TemplateError } from '../../../security/signatures/expressions/template-error.ts';
import { isNegativeTest } from '../../../security/signatures/negative-tag.ts';
import type { PlanScope } from '../../core/plan-scope.ts';
import { dictionaryValues } from '../payloads.ts';
import { withHeaders } from './attempt-headers.ts';
import { exchangeOf, findUsableSignature, renderHost, signatureName } from './cve-exchange.ts';

type Module = WafValues['wafModules']['modules'][number];
type Draft = Omit<Attempt, 'id'>;

interface SignatureOptions {
  readonly module: Module;
  /** JSON pointer of the module. */
  readonly path: string;
  readonly seed: number;
  readonly allowIntrusive: boolean;
  readonly max: { readonly attempts: number; readonly bytes: number };
  /** What requests of the n-th attempt carry besides their own headers. */
  optionsOf(ordinal: number): PlaceholderOptions;
}

const rendered = (scope: PlanScope, signature: CveSignature, seed: number, path: string): RenderedAttempt[] => {
  try {
    return renderSignature(signature, {
      seed: `${seed}/${signature.id}`,
      target: { host: renderHost, port: 80, isTls: false },
      dictionary: (id) => dictionaryValues(scope, id, path) ?? [],
    });
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return scope.issues.error(path, error.code, `signature ${signature.id}: ${error.message}`) ?? [];
  }
};

const draftOf = (signature: CveSignature, category: string, variant: string, exchange: HttpExchange): Draft => {
  const { id, severity, techniques, direction, expect } = signature;
  return {
    kind: expect.action === 'allow' && !isNegativeTest(signature) ? 'benign' : 'waf',
    refId: id,
    refName: signatureName(signature),
    variant,
    category,
    expected: expect.action,
    severity,
    techniques: techniques.slice(0, 16),
    direction: direction === 's2c' ? 's2c' : 'c2s',
    service: 'http',
    exchange,
  };
};

/** The signatures of a module as its attempts, as far as HTTP carries them and limits go. */
export const signatureAttempts = (scope: PlanScope, options: SignatureOptions): Draft[] => {
  const { module, path, seed, max, optionsOf, allowIntrusive } = options;
  const drafts: Draft[] = [];
  let bytes = 0;
  for (const [index, id] of module.signatureIds.entries()) {
    const placeholder = `${path}/signatureIds/${index}`;
    const signature = findUsableSignature(scope, id, { path: placeholder, allowIntrusive });
    if (signature === undefined) continue;
    const attempts = rendered(scope, signature, seed, placeholder);
    for (const [n, attempt] of attempts.entries()) {
      const exchange = exchangeOf(attempt, 'canned');
      if (exchange.protocol !== 'http') {
        const message = `"${signature.name}" is no HTTP and is left out: cve-replay plays it`;
        scope.issues.caveat(placeholder, 'SIGNATURE_LEFT_OUT', message);
        break;
      }
      if (drafts.length >= max.attempts || bytes > max.bytes) return drafts;
      const variant = ['plain', signaturePlaceholder, ...(attempts.length > 1 ? [`payload-${n + 1}`] : [])].join('/');
      const draft = draftOf(signature, module.name, variant, withHeaders(exchange, optionsOf(drafts.length)));
      bytes += JSON.stringify(draft).length;
      drafts.push(draft);
    }
  }
  return drafts;
};
