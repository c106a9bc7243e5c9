import { Textarea } from '@mantine/core';
import { RequestFailed } from '@rushhour/client';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { client } from '../lib/client.ts';
import { text } from '../lib/text.ts';
import { FormDialog } from './dialogs.tsx';

const { run } = text;

/** The controller wants to know why a hazardous task is started. */
const needsReason = (error: unknown) =>
  error instanceof RequestFailed && (error.data.issues ?? []).some(({ path }) => path === '/reason');

interface StartOptions {
  onStarted: (id: number) => unknown;
  onError: (error: unknown) => void;
  /** Labels of the run, such as the device under test. */
  labels?: Readonly<Record<string, string>>;
}

/** Starts tasks. If the controller requires a reason, `dialog` asks for it; it must be rendered. */
export const useStartTask = ({ onStarted, onError, labels = {} }: StartOptions) => {
  const [asked, setAsked] = useState<number>();
  const start = useMutation({
    mutationFn: async ({ id, reason }: { id: number; reason?: string }) => {
      await client.tasks.start({ params: { id }, body: { labels, ...(reason !== undefined && { reason }) } });
      return id;
    },
    onSuccess: (id) => {
      setAsked(undefined);
      return onStarted(id);
    },
    onError: (error, { id, reason }) => {
      if (needsReason(error) && reason === undefined) setAsked(id);
      else if (asked === undefined) onError(error);
    },
  });
  const dialog: ReactNode = asked !== undefined && (
    <ReasonDialog
      onClose={() => setAsked(undefined)}
      onSubmit={(reason) => start.mutate({ id: asked, reason })}
      error={needsReason(start.error) ? undefined : start.error}
      isBusy={start.isPending}
    />
  );
  return { start: (id: number) => start.mutate({ id }), isStarting: start.isPending, dialog };
};

interface ReasonDialogProps {
  onClose: () => void;
  onSubmit: (reason: string) => void;
  error: unknown;
  isBusy: boolean;
}

const ReasonDialog = ({ onClose, onSubmit, error, isBusy }: ReasonDialogProps) => {
  const [reason, setReason] = useState('');
  return (
    <FormDialog
      title={run.reasonTitle}
      size="md"
      label={run.start}
      onClose={onClose}
      onSubmit={() => onSubmit(reason.trim())}
      error={error}
      isBusy={isBusy}
      isDisabled={reason.trim() === ''}
    >
      <Textarea
        label={run.reason}
        description={run.reasonHelp}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        autosize
        minRows={2}
        maxLength={1024}
        required
      />
    </FormDialog>
  );
};
