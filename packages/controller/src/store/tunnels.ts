import { sql } from 'kysely';
import { createTable } from './table.ts';

export const tunnels = createTable('tunnels', {
  search: ['name', 'description', 'clientIp', 'serverIp', 'endpoints', 'tags'],
  filters: { type: (type: string) => sql`${sql.ref('t.type')} = ${type}` },
});

export type StoredTunnel = NonNullable<Awaited<ReturnType<typeof tunnels.find>>>;
