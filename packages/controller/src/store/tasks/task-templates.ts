import { sql } from 'kysely';
import { hasTags } from '../engine/expressions.ts';
import { createTable } from '../engine/table.ts';

/** The tags of the filter are a JSON list. */
export const taskTemplates = createTable('taskTemplates', {
  search: ['name', 'description', 'tags'],
  heavy: ['task'],
  filters: {
    tag: (tags: string, engine) => hasTags('t.tags', tags, engine),
    builtIn: (isBuiltIn: number) => sql`${sql.ref('t.builtIn')} = ${isBuiltIn}`,
  },
});

export type StoredTemplate = NonNullable<Awaited<ReturnType<typeof taskTemplates.find>>>;
