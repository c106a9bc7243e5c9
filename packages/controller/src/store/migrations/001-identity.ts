import { createIndex, createTable, createUnique, type Migrating } from './create-table.ts';

/** Users, groups, sessions, projects, tasks, notifications, settings and the audit chain. */
export const identity = async (m: Migrating) => {
  const stamps = { createdAt: 'text', updatedAt: 'text' };

  await createTable(m, 'groups', {
    id: 'id',
    name: 'text',
    permissions: 'text',
    issuerID: 'integer?',
    ...stamps,
    deletedAt: 'text?',
  });
  await createUnique(m, 'groups', 'name', 'live');

  await createTable(m, 'users', {
    id: 'id',
    email: 'text',
    realName: 'text',
    groupID: 'integer>groups.id',
    isActive: 'integer',
    isRequiredToSetPassword: 'integer',
    passwordHash: 'text',
    passwordLength: 'integer',
    lastLogin: 'text?',
    agreementAccepted: 'integer',
    notificationsReadAt: 'text?',
    preferences: 'text',
    issuerID: 'integer?',
    ...stamps,
    deletedAt: 'text?',
  });
  await createUnique(m, 'users', 'email', 'live');
  await createIndex(m, 'users', 'groupID');

  await createTable(m, 'sessions', {
    id: 'id',
    userID: 'integer>users.id',
    accessHash: 'text',
    refreshHash: 'text',
    accessExpiresAt: 'text',
    refreshExpiresAt: 'text',
    absoluteExpiresAt: 'text',
    address: 'text',
    createdAt: 'text',
  });
  await createUnique(m, 'sessions', 'accessHash');
  await createUnique(m, 'sessions', 'refreshHash');
  await createIndex(m, 'sessions', 'userID');
  await createTable(m, 'retiredTokens', {
    hash: 'text!',
    sessionID: 'integer',
    successorHash: 'text',
    retiredAt: 'text',
  });
  await createIndex(m, 'retiredTokens', 'sessionID');
  await createTable(m, 'throttles', { key: 'text!', failures: 'integer', blockedUntil: 'text', updatedAt: 'text' });
};
