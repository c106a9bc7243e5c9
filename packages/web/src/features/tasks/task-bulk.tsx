import { isActive } from '@rushhour/contract';
import { IconFolderSymlink, IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { DialogButton, FormDialog } from '../../components/dialogs.tsx';
import { BulkButton } from '../../components/resource/bulk-button.tsx';
import { failuresIn, linesOf } from '../../components/resource/outcomes.ts';
import { type Item, idOf } from '../../components/resource/resource.ts';
import { RecordSelect } from '../../components/schema-form/record-select.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { explain } from '../../lib/explain.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

const { taskBulk: words } = text;

interface TaskBulkProps {
  items: readonly Item[];
  done: () => void;
}

/** One after another: a task that cannot be started or stopped does not keep the others from it. */
const each = async (ids: readonly number[], act: (id: number) => Promise<unknown>) => {
  const data: { id: number; ok: boolean; error?: string }[] = [];
  for (const id of ids) {
    try {
      await act(id);
      data.push({ id, ok: true });
    } catch (error) {
      data.push({ id, ok: false, error: explain(error) });
    }
  }
  return { data };
};

/** Starts, stops or moves the selected tasks. */
export const TaskBulk = ({ items, done }: TaskBulkProps) => {
  const may = useMay();
  const present = items.filter(({ deletedAt }) => deletedAt === null);
  const active = present.filter(({ status }) => isActive(Number(status)));
  const idle = present.filter(({ status }) => !isActive(Number(status)));
  return (
    <>
      {may('tasks', 'start') && idle.length > 0 && (
        <BulkButton
          label={words.start}
          icon={IconPlayerPlay}
          items={idle}
          run={(ids) => each(ids, (id) => client.tasks.start({ params: { id } }))}
          onDone={done}
        />
      )}
      {may('tasks', 'stop') && active.length > 0 && (
        <BulkButton
          label={words.stop}
          icon={IconPlayerStop}
          items={active}
          run={(ids) => each(ids, (id) => client.tasks.stop({ params: { id } }))}
          onDone={done}
          question={words.stopQuestion}
        />
      )}
      {may('tasks', 'move') && present.length > 0 && (
        <DialogButton label={words.move} variant="default" leftSection={<IconFolderSymlink size={16} />}>
          {(close) => <MoveDialog items={present} onClose={close} done={done} />}
        </DialogButton>
      )}
    </>
  );
};

const MoveDialog = ({ items, onClose, done }: TaskBulkProps & { onClose: () => void }) => {
  const [projectID, setProject] = useState<number>();
  const toasts = useToasts();
  const move = useMutation({
    mutationFn: async () =>
      failuresIn(await client.tasks.move({ body: { array: items.map(idOf), projectID: projectID ?? null } })),
    onSuccess: (failed) => {
      if (failed.length === 0) toasts.done(words.moved);
      else toasts.problem(linesOf(failed, items), text.bulk.some(failed.length, items.length));
      onClose();
      done();
    },
  });
  return (
    <FormDialog
      title={words.move}
      size="md"
      label={words.move}
      onClose={onClose}
      onSubmit={move.mutate}
      error={move.error}
      isBusy={move.isPending}
    >
      <RecordSelect name="projects" label={text.editor.project} value={projectID} onChange={setProject} clearable />
    </FormDialog>
  );
};
