import { expect, it } from 'vitest';
import { type Standing, standingOf } from './approval-state.ts';

const nowMs = Date.parse('2026-11-15T12:00:00Z');
const record = {
  ...{ keyID: 1, family: 'start', state: 'pending', confirmKey: null, idempotencyKey: null, policy: 'same-key' },
  ...{ expiresAt: '2026-11-15T12:00:00.001Z', requiredDecisions: 0, decisions: [] },
};
const approve = (userID: number, decision: 'approve' | 'reject' = 'approve') => ({
  userID,
  decision,
  comment: '',
  at: '',
});
const human = { policy: 'human', requiredDecisions: 2 };
const ended = { expiresAt: '2026-11-15T12:00:00.000Z' };

it.each<[string, object, { key?: string; keyId?: number; family?: string }, Standing]>([
  ['pending', {}, {}, 'ready'],
  ['pending, any key', {}, { key: 'k' }, 'ready'],
  ['of another key', {}, { keyId: 2 }, 'unknown'],
  ['for another operation', {}, { family: 'actions' }, 'unknown'],
  ['used', { state: 'used' }, {}, 'used'],
  ['used under a key, none now', { state: 'used', confirmKey: 'k' }, {}, 'used'],
  ['used under a key, another now', { state: 'used', confirmKey: 'k' }, { key: 'l' }, 'used'],
  ['used under the same key', { state: 'used', confirmKey: 'k' }, { key: 'k' }, 'replay'],
  ['used under the same key, long ago', { state: 'used', confirmKey: 'k', ...ended }, { key: 'k' }, 'replay'],
  ['used under the same key, of another holder', { state: 'used', confirmKey: 'k' }, { key: 'k', keyId: 2 }, 'unknown'],
  ['revoked', { state: 'revoked' }, {}, 'notPending'],
  ['rejected', { state: 'rejected' }, {}, 'notPending'],
  ['revoked, and over', { state: 'revoked', ...ended }, {}, 'notPending'],
  ['over', ended, {}, 'expired'],
  ['marked as over', { state: 'expired' }, {}, 'expired'],
  ['over, with another key', { ...ended, idempotencyKey: 'k' }, { key: 'l' }, 'expired'],
  ['bound, no key', { idempotencyKey: 'k' }, {}, 'keyMismatch'],
  ['bound, another key', { idempotencyKey: 'k' }, { key: 'l' }, 'keyMismatch'],
  ['bound, the key', { idempotencyKey: 'k' }, { key: 'k' }, 'ready'],
  ['undecided', human, {}, 'undecided'],
  ['undecided, another key', { ...human, idempotencyKey: 'k' }, {}, 'keyMismatch'],
  ['approved once of twice', { ...human, decisions: [approve(1)] }, {}, 'undecided'],
  ['approved twice by one', { ...human, decisions: [approve(1), approve(1)] }, {}, 'undecided'],
  ['approved twice', { ...human, decisions: [approve(1), approve(2)] }, {}, 'ready'],
  ['for people, with no number', { policy: 'human' }, {}, 'undecided'],
])('an approval that is %s', (_, over, { key, keyId = 1, family = 'start' }, standing) => {
  const confirmation = { keyId, family, idempotencyKey: key, nowMs };
  expect(standingOf({ ...record, ...over }, confirmation)).toBe(standing);
});

it('answers for an unknown token as for the token of another user', () => {
  expect(standingOf(undefined, { keyId: 1, family: 'start', idempotencyKey: undefined, nowMs })).toBe('unknown');
});
