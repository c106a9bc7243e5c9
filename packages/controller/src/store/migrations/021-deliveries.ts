import { createIndex, createTable, type Migrating } from './create-table.ts';

/** Notifications on their way to webhooks and mail addresses. */
export const deliveries = async (m: Migrating) => {
  await createTable(m, 'deliveries', {
    id: 'id',
    notificationID: 'integer',
    channel: 'text',
    target: 'text',
    state: 'text',
    attempts: 'integer',
    nextAt: 'text',
    error: 'text',
    createdAt: 'text',
    updatedAt: 'text',
  });
  await createTable(m, 'deliveryCursor', { id: 'id', notificationID: 'integer' });
  await m.raw('CREATE UNIQUE INDEX "deliveries_target_unique" ON "deliveries" ("notificationID", "channel", "target")');
  await createIndex(m, 'deliveries', 'state');
};
