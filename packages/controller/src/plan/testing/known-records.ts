import { completeSignature, madeByUser } from '../../security/signatures/expressions/complete-signature.ts';
import type { PlanApplication, PlanInput } from '../core/plan-input.ts';

const signature = {
  ...completeSignature({ name: 's', requests: [{ idx: 0, kind: 'http', method: 'GET', path: '/' }] }, madeByUser),
  ...{ id: 1, issuerID: null, issuer: null, createdAt: '', updatedAt: '' },
};
const copy = { plainSha256: 'cd'.repeat(32), sha256: 'ef'.repeat(32), size: 68, key: '', nonce: '', tag: '' };
const sample = {
  ...{ id: 1, name: 'test.com', mime: 'application/octet-stream', type: 'test-file', family: '', kind: 'eicar' },
  ...{ isBuiltin: true, inert: true, container: [], depth: 1, encoding: 'none' },
  copies: new Map((['none', 'gzip', 'deflate', 'br'] as const).map((compression) => [compression, copy])),
};
const recording = {
  ...{ client: { sha256: '12'.repeat(32), size: 3 }, server: { sha256: '34'.repeat(32), size: 3 } },
  summary: { origins: [{ host: 'a.test', port: 443, isTls: true }], entries: 1, requestBytes: 1, answerBytes: 1 },
  ...{ warnings: [], issues: [] },
};
const application = {
  ...{ id: 1, name: 'a', mode: 'stateful', clientIp: '', defaultSpeedMode: 'max', allowPerSessionSpeed: true },
  ...{ followTimestamps: true, lockParameters: false, timingGapThresholdMs: 500, defaultTimeout: 1, defaultUsers: 2 },
  ...{ baseBps: 1, basePps: 1, pcapFileId: 1, trimmedPcapFileId: null, parameters: [] },
  sessions: [{ sessionIndex: 0, protocol: 'tcp', dstPort: 80, bytesC2S: 1, bytesS2C: 1, name: 's' }],
  capture: { name: 'f', sha256: 'ab'.repeat(32), size: 3, isReady: true },
} as unknown as PlanApplication;
/** One record of each kind that a task can refer to; all have the id 1. */
export const knownRecords = {
  certificates: new Map([[1, { name: 'c', certificate: 'PEM', privateKey: 'KEY' }]]),
  files: new Map([[1, { name: 'f', sha256: 'ab'.repeat(32), size: 3, isReady: true }]]),
  dictionaries: new Map([[1, { name: 'd', values: ['a.test', 'b.test'], isCut: false }]]),
  signatures: new Map([[1, signature]]),
  samples: new Map([[1, sample]]),
  recordings: new Map([['/configuration/0', recording]]),
  applications: { byId: new Map([[1, application]]), tables: new Map() },
} satisfies Partial<PlanInput>;
