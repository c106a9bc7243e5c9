import { type Issue, invalid } from '../../errors.ts';
import { stepIssues } from '../../security/campaigns/action-params.ts';
import { foreignNames } from '../../security/campaigns/foreign-names.ts';
import { signatureIssues } from '../../security/signatures/expressions/check-signature.ts';
import { completeSignature } from '../../security/signatures/expressions/complete-signature.ts';
import { isSafer } from '../../security/signatures/expressions/safety.ts';
import { linkSignature } from '../../security/signatures/link-signature.ts';
import { insertSignature } from '../../store/security/cve.ts';
import type { RecordRules } from './record-rules.ts';

type Campaign = Parameters<RecordRules['campaign']>[0];

const assertNone = (issues: readonly Issue[]) => {
  if (issues.length > 0) throw invalid([...issues], issues[0]?.code);
};

/** Steps in their order, each with params that its action knows, and nobody's names or addresses in them. */
const campaignIssues = ({ parameters = [], steps }: Campaign): Issue[] => [
  ...steps.flatMap((step, index) => {
    const path = `/steps/${index}`;
    const misplaced = step.idx === index ? [] : [{ path: `${path}/idx`, code: 'ORDER', message: `must be ${index}` }];
    return [...misplaced, ...stepIssues(step, { parameters }, path)];
  }),
  ...foreignNames({ parameters, steps: steps.map(({ params }) => params) }).map((name) => ({
    path: '/steps',
    code: 'FOREIGN_HOST',
    message: `names ${name.slice(0, 80)}; use names in reserved domains`,
  })),
];

/** What signatures and campaigns must be to come in with a task. */
export const securityRules: Pick<RecordRules, 'signature' | 'insertSignature' | 'campaign'> = {
  signature: ({ safety: said, enabled, source, sourceRef, sourceSha256, ...draft }) => {
    // Only a release brings built-in ones.
    const origin = { source: source === 'builtin' ? ('user' as const) : source, sourceRef, sourceSha256 };
    const complete = completeSignature(draft, { ...origin, sourceFileID: null, warnings: [] });
    assertNone(signatureIssues(complete));
    const safety = isSafer(said, complete.safety) ? complete.safety : said;
    return { ...complete, safety, enabled: enabled && safety === 'benign' };
  },
  insertSignature: async (tx, signature) => {
    const id = await insertSignature(tx, signature, '');
    await linkSignature(tx, id, signature);
    if (signature.safety !== 'benign') tx.note({ safety: signature.safety, fingerprint: signature.fingerprint });
    return id;
  },
  campaign: (campaign) => assertNone(campaignIssues(campaign)),
};
