import { Type } from 'typebox';
import { Data, IdParams } from '../envelopes.ts';
import { route } from '../route.ts';
import { Id } from '../scalars.ts';
import { optional, StrictObject } from '../schema.ts';
import { ExportOptions, ImportBody, ImportPlan, ImportResult, TaskExportPlan } from './task-transfer.ts';

/** Tasks that travel from one controller to another. */
export const transferRoutes = {
  exportPlan: route('GET /tasks/:id/export/plan', {
    summary: 'What an export of the task would hold; 500 when the task is not found',
    access: 'tasks.export',
    params: IdParams,
    query: ExportOptions,
    reply: TaskExportPlan,
  }),
  export: route('GET /tasks/:id/export', {
    summary: 'The task and everything it needs as an archive; the passphrase goes in X-Export-Passphrase',
    access: 'tasks.export',
    params: IdParams,
    query: Type.Object({
      ...ExportOptions.properties,
      secrets: optional.oneOf(['omit', 'encrypted'], { default: 'omit' }),
      strict: optional.flag('409 when something is missing'),
    }),
    download: ['application/zip'],
    errors: [404, 409],
  }),
  importPlan: route('POST /tasks/import/plan', {
    summary: 'Upload an archive and see what would become of its parts',
    access: 'tasks.import',
    body: StrictObject({ fileId: Id }),
    upload: StrictObject({}),
    reply: Data(ImportPlan),
    errors: [404, 409],
  }),
  import: route('POST /tasks/import', {
    summary: 'Carry out an import, all or nothing',
    access: 'tasks.import',
    body: ImportBody,
    reply: ImportResult,
    errors: [404, 409, 410],
  }),
};
