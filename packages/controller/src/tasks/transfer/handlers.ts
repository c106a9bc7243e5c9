import type { api } from '@rushhour/contract';
import type { Handlers } from '../../handler.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import type { ArchiveFiles } from './archive-files.ts';
import { createExport, planExport } from './export/export.ts';
import { importTask } from './import/import-task.ts';
import { createImportPlanner } from './import/plan-import.ts';
import type { RecordRules } from './import/record-rules.ts';
import { createRelease } from './release.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
  files: ArchiveFiles;
  rules: RecordRules;
}

type Transfer = Pick<Handlers<typeof api.tasks>, 'exportPlan' | 'export' | 'importPlan' | 'import'>;

export const transferHandlers = ({ store, settings, files, rules }: Deps): Transfer => {
  const exportTask = createExport({ store, files });
  const planner = createImportPlanner({ store, settings, files, rules });
  const release = createRelease({ store, blobs: files.blobs });
  return {
    exportPlan: ({ params, query }, caller) => planExport({ store, files }, params.id, query, caller),
    export: ({ params, query }, caller) => exportTask(params.id, query, caller),
    importPlan: ({ body, upload }, caller) =>
      upload ? planner.fromUpload(upload, caller) : planner.fromFile((body as { fileId: number }).fileId, caller),
    import: ({ body }, caller) => importTask({ store, files, rules, release }, body, caller),
  };
};
