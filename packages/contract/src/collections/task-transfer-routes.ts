import { Type } from 'typebox';
import { Data, IdParams, OneOf } from '../envelopes.ts';
import { route } from '../route.ts';
import { Id } from '../scalars.ts';
import { ExportOptions, ImportBody, ImportPlan, ImportResult, TaskExportPlan } from './task-transfer.ts';

/** Tasks that travel from one controller to another. */
export const transferRoutes = {
  exportPlan: route({
    method: 'GET',
    path: '/tasks/:id/export/plan',
    summary: 'What an export of the task would hold; 500 when the task is not found',
    access: 'tasks.export',
    params: IdParams,
    query: ExportOptions,
    reply: TaskExportPlan,
  }),
  export: route({
    method: 'GET',
    path: '/tasks/:id/export',
    summary: 'The task and everything it needs as an archive; the passphrase goes in X-Export-Passphrase',
    access: 'tasks.export',
    params: IdParams,
    query: Type.Object({
      ...ExportOptions.properties,
      secrets: Type.Optional(OneOf(['omit', 'encrypted'], { default: 'omit' })),
      strict: Type.Optional(Type.Boolean({ description: '409 when something is missing' })),
    }),
    download: ['application/zip'],
    errors: [404, 409],
  }),
  importPlan: route({
    method: 'POST',
    path: '/tasks/import/plan',
    summary: 'Upload an archive and see what would become of its parts',
    access: 'tasks.import',
    body: Type.Object({ fileId: Id }, { additionalProperties: false }),
    upload: Type.Object({}, { additionalProperties: false }),
    reply: Data(ImportPlan),
    errors: [404, 409],
  }),
  import: route({
    method: 'POST',
    path: '/tasks/import',
    summary: 'Carry out an import, all or nothing',
    access: 'tasks.import',
    body: ImportBody,
    reply: ImportResult,
    errors: [404, 409, 410],
  }),
};
