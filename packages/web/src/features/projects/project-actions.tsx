import { IconArchive, IconArchiveOff } from '@tabler/icons-react';
import { BulkButton } from '../../components/resource/bulk-button.tsx';
import { type Item, idOf } from '../../components/resource/resource.ts';
import { TasksOf } from '../../components/resource/tasks-of.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

const { projects: words } = text;

/** Opens the tasks of a project; archives and unarchives projects. */
export const ProjectActions = ({ items, done }: { items: readonly Item[]; done: () => void }) => {
  const may = useMay();
  const [only] = items.length === 1 ? items : [];
  return (
    <>
      {only && <TasksOf label={words.tasks} filter={{ projectID: idOf(only) }} />}
      {may('projects', 'archive') && items.every(({ archivedAt }) => archivedAt === null) && (
        <BulkButton
          label={words.archive}
          icon={IconArchive}
          items={items}
          run={(array) => client.projects.archive({ body: { array } })}
          onDone={done}
          question={words.archiveQuestion}
        />
      )}
      {may('projects', 'unarchive') && items.every(({ archivedAt }) => archivedAt !== null) && (
        <BulkButton
          label={words.unarchive}
          icon={IconArchiveOff}
          items={items}
          run={(array) => client.projects.unarchive({ body: { array } })}
          onDone={done}
        />
      )}
    </>
  );
};
