import { Button } from '@mantine/core';
import { IconTimeline, type TablerIcon } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { ConfirmDialog } from '../dialogs.tsx';
import { useToasts } from '../toasts.tsx';
import { failuresIn, linesOf } from './outcomes.ts';
import { type Item, idOf, operationsOf, type Resource } from './resource.ts';

interface BulkButtonProps {
  label: string;
  icon: TablerIcon;
  items: readonly Item[];
  /** Answers the outcome of each record, or nothing when all succeed or fail together. */
  run: (ids: number[]) => Promise<unknown>;
  onDone: () => void;
  /** Confirmed before it runs. */
  question?: string;
}

/** One action on all selected records. Reports the records for which it failed, with the reasons. */
export const BulkButton = ({ label, icon: Icon, items, run, onDone, question }: BulkButtonProps) => {
  const [isAsking, setAsking] = useState(false);
  const toasts = useToasts();
  const act = useMutation({
    mutationFn: async () => failuresIn(await run(items.map(idOf))),
    onSuccess: (failed) => {
      if (failed.length === 0) toasts.done(text.bulk.done(items.length));
      else toasts.problem(linesOf(failed, items), text.bulk.some(failed.length, items.length));
      onDone();
    },
    onError: (error) => toasts.problem(error),
    onSettled: () => setAsking(false),
  });
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon size={16} />}
        loading={act.isPending && !isAsking}
        onClick={() => (question === undefined ? act.mutate() : setAsking(true))}
      >
        {label}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={text.bulk.sure}
          label={label}
          isBusy={act.isPending}
          onConfirm={act.mutate}
          onClose={() => setAsking(false)}
        >
          {question}
        </ConfirmDialog>
      )}
    </>
  );
};

interface BulkActionsProps {
  resource: Resource;
  items: readonly Item[];
  onDone: () => void;
}

/** The actions of a collection on one record or on the selected ones, as far as the user has the permissions. */
export const BulkActions = ({ resource, items, onDone }: BulkActionsProps) => {
  const { name, taskFilter, bulk = [], actions } = resource;
  const may = useMay();
  const [only] = items.length === 1 ? items : [];
  return (
    <>
      {only && taskFilter !== undefined && may('tasks', 'list') && (
        <Button
          variant="default"
          leftSection={<IconTimeline size={16} />}
          renderRoot={(props) => (
            <Link {...props} to="/resources/$name" params={{ name: 'tasks' }} search={{ [taskFilter]: idOf(only) }} />
          )}
        >
          {text.table.viewTasks}
        </Button>
      )}
      {bulk
        .filter(({ operation, appliesTo }) => may(name, operation) && appliesTo(items))
        .map(({ operation, appliesTo: _, ...button }) => (
          <BulkButton
            key={operation}
            {...button}
            items={items}
            run={async (array) => operationsOf(name)[operation]?.({ body: { array } })}
            onDone={onDone}
          />
        ))}
      {actions?.(items, onDone)}
    </>
  );
};
