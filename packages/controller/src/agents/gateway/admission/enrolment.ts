import { hash, randomBytes } from 'node:crypto';
import type { NewAgentToken } from '@rushhour/contract';
import { agentStatus } from '@rushhour/contract';
import { type Greeting, joinTokenOf, type Proof } from '@rushhour/protocol';
import { agents, agentTokens, factColumns, findToken, freeAgentName, takeToken } from '../../../store/agents/agents.ts';
import type { Change } from '../../../store/engine/change.ts';
import type { Executor } from '../../../store/engine/database.ts';
import type { Store } from '../../../store/store.ts';
import { Refusal } from './refusal.ts';

type Enrolment = Extract<Greeting, { type: 'enrol' }>;

const maxNameLength = 120;

const tokenHash = (secret: string) => hash('sha256', secret, 'hex');

/**
 * Creates an enrolment token. It carries the key of the controller, which the agent checks before it sends anything.
 * Only the hash of its secret is stored: a lost token cannot be shown again.
 */
export const createEnrolmentToken = async (
  tx: Change,
  { name, ttlSec, maxUses, tags = '' }: NewAgentToken,
  controllerKey: string,
) => {
  const secret = randomBytes(32).toString('base64url');
  const expiresAt = new Date(Date.parse(tx.now) + ttlSec * 1000).toISOString();
  const id = await agentTokens.insert(tx, { name, tags, hash: tokenHash(secret), usesLeft: maxUses, expiresAt });
  return { id, token: joinTokenOf(secret, controllerKey) };
};

/** Throws a `Refusal` unless an agent could enrol with the token now. */
export const assertUsableToken = async (executor: Executor, secret: string): Promise<void> => {
  const now = new Date().toISOString();
  const token = await findToken(executor, tokenHash(secret));
  if (token === undefined || token.expiresAt <= now || token.usesLeft < 1)
    throw await refusalOf(executor, tokenHash(secret), now);
};

/** A name as the interface takes it. */
export const validName = (name: string, hostname: string) => {
  const clean = (text: string) =>
    text
      .replace(/\p{Cc}/gu, ' ')
      .trim()
      .slice(0, maxNameLength)
      .trim();
  return clean(name) || clean(hostname) || 'agent';
};

/** Adds an agent that has a token. The use of the token and the new record are one change. */
export const enrol = (store: Store, greeting: Enrolment, proof: Proof, address: string): Promise<number> => {
  const { uuid, publicKey, token: secret = '' } = proof;
  const origin = {
    ...{ userId: null, address, requestId: `enrol ${uuid}`, operation: 'agents.enrol' },
    // A rack of agents that starts enrols at once.
    sharesCommit: true,
  };
  return store.change(origin, async (tx) => {
    const token = await takeToken(tx, tokenHash(secret), tx.now);
    if (token === undefined) throw await refusalOf(tx, tokenHash(secret), tx.now);
    tx.touch('agentTokens', token.id);
    tx.note({ uuid });
    return insertAgent(tx, greeting, { uuid, publicKey }, token);
  });
};

const insertAgent = async (
  tx: Change,
  { name, facts }: Enrolment,
  identity: { uuid: string; publicKey: string },
  token: { tags: string; issuerID: number | null },
) =>
  agents.insert(tx, {
    ...factColumns(facts),
    ...identity,
    name: await freeAgentName(tx, validName(name, facts.hostname)),
    bootId: '',
    status: agentStatus.enrolled,
    isBlocked: false,
    tags: token.tags,
    comment: '',
    clockOffsetMs: 0,
    roundTripMs: 0,
    maxConcurrentTasks: 0,
    maxBps: 0,
    reservedReason: '',
    fence: 0,
    needsReset: false,
    enrolledAt: tx.now,
    issuerID: token.issuerID,
  });

const refusalOf = async (executor: Executor, hashed: string, now: string) => {
  const token = await findToken(executor, hashed);
  if (token === undefined) return new Refusal('TOKEN_UNKNOWN', 'the enrolment token is not known or was revoked');
  if (token.expiresAt <= now) return new Refusal('TOKEN_EXPIRED', 'the enrolment token has expired');
  return new Refusal('TOKEN_SPENT', 'the enrolment token was used as often as it may be');
};
