import type { NewApplication, TunnelType } from '@rushhour/contract';
import { recordedSession } from '../../../assets/applications/captures/analyze-job.ts';
import { analyzePlayable } from '../../../assets/applications/check-application.ts';
import { parameterOf } from '../../../assets/applications/parameter.ts';
import { complete, defaults, plainMembers } from '../../../assets/applications/stored-application.ts';
import { isChildOf } from '../../../assets/certificates/bundle.ts';
import { columnsOf, importPem, materialOf } from '../../../assets/certificates/material.ts';
import { reported } from '../../../assets/certificates/write-certificate.ts';
import { assertTexts, blocksOf } from '../../../assets/dictionaries/content.ts';
import { validContent } from '../../../assets/dictionaries/write-dictionary.ts';
import { stagedContent } from '../../../assets/files/content.ts';
import { type ContentFacts, type FileService, isCapture } from '../../../assets/files/file-service.ts';
import { explained } from '../../../assets/files/refusals.ts';
import { inspect } from '../../../assets/files/upload/new-file.ts';
import { chosenVendor, validMac } from '../../../assets/macs/mac-record-checks.ts';
import { networkColumns } from '../../../assets/networks/network-columns.ts';
import { assertValidNetwork } from '../../../assets/networks/network-issues.ts';
import { assertValidTunnel } from '../../../assets/tunnels/check.ts';
import { type Issue, invalid } from '../../../errors.ts';
import { foreignNames, stepIssues } from '../../../security/campaigns/action-params.ts';
import { signatureIssues } from '../../../security/signatures/expressions/check-signature.ts';
import { completeSignature } from '../../../security/signatures/expressions/complete-signature.ts';
import { isSafer } from '../../../security/signatures/expressions/safety.ts';
import { linkSignature } from '../../../security/signatures/write.ts';
import type { Staged } from '../../../store/blobs/blobs.ts';
import { insertSignature } from '../../../store/security/cve.ts';
import type { Store } from '../../../store/store.ts';
import type { OpenFile, RecordRules } from './record-rules.ts';

type Campaign = Parameters<RecordRules['campaign']>[0];

const assertNone = (issues: readonly Issue[]) => {
  if (issues.length > 0) throw invalid([...issues], issues[0]?.code);
};

/** Ordered steps with valid params and without foreign names or addresses. */
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

/** Import rules of signatures and campaigns. */
const securityRules: Pick<RecordRules, 'signature' | 'insertSignature' | 'campaign'> = {
  signature: ({ safety: given, enabled, source, sourceRef, sourceSha256, ...draft }) => {
    // Built-in templates come with releases only.
    const origin = { source: source === 'builtin' ? ('user' as const) : source, sourceRef, sourceSha256 };
    const complete = completeSignature(draft, { ...origin, sourceFileID: null, warnings: [] });
    assertNone(signatureIssues(complete));
    const safety = isSafer(given, complete.safety) ? complete.safety : given;
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

/** The rules of each collection for its records, for bulk imports. */
export const createRecordRules = ({ store, files }: { store: Store; files: FileService }): RecordRules => ({
  mac: ({ kind = 'address', address, count, vendor }) => {
    const valid = validMac({ kind, address, count });
    return { ...valid, vendor: chosenVendor(vendor, valid.address) };
  },
  network: async (tx, draft) => {
    await assertValidNetwork(tx, draft as never);
    return networkColumns(draft as never);
  },
  tunnel: (draft) => assertValidTunnel(draft as { type: TunnelType; params: Record<string, unknown> }),
  certificate: async (pem) => {
    const material = await reported(async () => materialOf(await importPem(pem)));
    const { public: text, private: key, details } = material;
    return {
      contents: { public: text, private: key, details },
      columns: columnsOf({ ...material, issuerCertificateID: null }),
    };
  },
  isSignedBy: isChildOf,
  dictionary: async (content, findFile) => {
    assertTexts({ rows: [...content.rows], values: [...content.values] });
    const access = { read: store.read, files: { find: (_: unknown, id: number) => findFile(id) } };
    return { ...(await validContent(content, access)), blocks: blocksOf(content) };
  },
  application: (draft, capture, signal) => checkApplication(store, draft as never, { capture, signal }),
  completeApplication: complete,
  ...securityRules,
  file: (content, facts) => inspectFile(files, content, facts as never),
  insertFile: (tx, content, checked) => files.insert(tx, content, checked as ContentFacts),
});

/** Like `POST /applications`, except that dictionaries may be imported together with the application. */
const checkApplication = async (
  store: Store,
  draft: NewApplication,
  { capture, signal }: { capture: OpenFile; signal: AbortSignal },
) => {
  const given = Object.entries(plainMembers(draft)).filter(([, value]) => value !== undefined);
  const columns = { ...defaults, ...(Object.fromEntries(given) as Partial<typeof defaults>) };
  const parameters = (draft.parameters ?? []).map(({ id: _, ...parameter }) => parameterOf(parameter));
  const playable = { mode: columns.mode, clientIp: columns.clientIp, parameters, sessions: draft.sessions };
  const found = await analyzePlayable(playable, {}, { read: store.read, open: () => capture.open(), signal });
  const errors = found.issues.filter(({ severity, code }) => severity === 'error' && code !== 'DICTIONARY_UNKNOWN');
  if (errors.length > 0) {
    throw invalid(
      errors.map(({ path, code, message }) => ({ path, code, message })),
      errors[0]?.code,
    );
  }
  const names = new Map(draft.sessions?.map(({ sessionIndex, name }) => [sessionIndex, name]));
  const sessions = found.chosen.map((session) => ({
    ...recordedSession(session),
    name: names.get(session.sessionIndex) ?? session.name,
  }));
  return { columns: { ...columns, baseBps: found.baseBps, basePps: found.basePps }, parameters, sessions };
};

/** Captures are analysed whatever their size: a task may only use files that are ready. */
const inspectFile = async (files: FileService, content: Staged, facts: Parameters<typeof inspect>[2]) => {
  const { blobs } = files;
  const found = await inspect({ files, blobs } as Parameters<typeof inspect>[0], content, {
    ...facts,
    source: 'import',
  });
  if (!isCapture(found.category) || found.capture) return found;
  return { ...found, capture: await explained(() => files.captures.analyse(stagedContent(blobs, content))) };
};
