import { createIndex, createTable, createUnique, type Migrating } from './create-table.ts';

/** Keys, approvals and drafts of the AI gateway. */
export const ai = async (m: Migrating) => {
  const stamps = { createdAt: 'text', updatedAt: 'text' };
  await createTable(m, 'aiApprovals', {
    id: 'id',
    keyID: 'integer',
    ownerID: 'integer',
    family: 'text',
    action: 'text',
    taskIds: 'text',
    params: 'text',
    risk: 'text',
    policy: 'text',
    state: 'text',
    stateReason: 'text?',
    requiredDecisions: 'integer',
    preventSelfApproval: 'integer',
    decisions: 'text',
    digest: 'text',
    subject: 'text',
    plan: 'text',
    reason: 'text',
    nonce: 'text',
    tokenHash: 'text',
    idempotencyKey: 'text?',
    requestFingerprint: 'text',
    confirmKey: 'text?',
    starts: 'integer',
    agentSeconds: 'integer',
    generatedBytes: 'integer',
    runIDs: 'text',
    restarting: 'text',
    result: 'text?',
    ...stamps,
    expiresAt: 'text',
    usedAt: 'text?',
  });
  await createUnique(m, 'aiApprovals', 'tokenHash');
  await createIndex(m, 'aiApprovals', 'keyID', 'createdAt');
  await createIndex(m, 'aiApprovals', 'state', 'expiresAt');
  await createTable(m, 'aiDrafts', {
    id: 'id',
    keyID: 'integer',
    name: 'text',
    revision: 'integer',
    task: 'text',
    taskSecrets: 'text',
    expiresAt: 'text',
    ...stamps,
  });
  await createIndex(m, 'aiDrafts', 'keyID');
  await createTable(m, 'aiKeys', {
    id: 'id',
    publicId: 'text',
    name: 'text',
    issuerID: 'integer?',
    isActive: 'integer',
    scopes: 'text',
    policy: 'text',
    policyVersion: 'integer',
    constraints: 'text',
    limits: 'text',
    ipAllowlist: 'text',
    secretHash: 'text',
    previousHash: 'text?',
    previousValidUntil: 'text?',
    expiresAt: 'text',
    lastUsedAt: 'text?',
    lastUsedIp: 'text',
    rotatedAt: 'text?',
    revokedAt: 'text?',
    ...stamps,
  });
  await createUnique(m, 'aiKeys', 'publicId');
  await createUnique(m, 'aiKeys', 'name');
  await createTable(m, 'aiUsage', {
    keyID: 'integer',
    day: 'text',
    requests: 'integer',
    writes: 'integer',
    denials: 'integer',
  });
  await m.raw('CREATE UNIQUE INDEX "aiUsage_day_unique" ON "aiUsage" ("keyID", "day")');
  await m.raw(
    `CREATE INDEX "audit_aiKey_index" ON "audit" (${auditedKey[m.engine]}, "id") WHERE "operation" LIKE 'aiGateway.%'`,
  );
};

const auditedKey = {
  sqlite: `json_extract("detail", '$.ai.keyId')`,
  postgres: `(("detail"::jsonb #>> '{ai,keyId}')::bigint)`,
};
