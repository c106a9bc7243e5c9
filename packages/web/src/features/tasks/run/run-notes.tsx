import { Button, Group, Text, Textarea, Tooltip } from '@mantine/core';
import type { RunResult } from '@rushhour/contract';
import { IconNote, IconPin, IconPinnedFilled } from '@tabler/icons-react';
import { useState } from 'react';
import { FormDialog } from '../../../components/dialogs.tsx';
import { useMay } from '../../../lib/session.ts';
import { text } from '../../../lib/text.ts';
import { RunLabels } from './run-labels.tsx';
import { useRunChange } from './use-run-change.ts';

const { notes: words } = text;

/** What users wrote about a run, and whether it is pinned: kept by the retention, and the baseline of later runs. */
export const RunNotes = ({ result }: { result: RunResult }) => {
  const mayChange = useMay()('tasks', 'update');
  const change = useRunChange(result);
  const [isOpen, setOpen] = useState(false);
  const { comment, pinned } = result;
  const Icon = pinned ? IconPinnedFilled : IconPin;
  if (!mayChange) {
    return (
      <>
        {comment !== '' && <Text size="sm">{comment}</Text>}
        <RunLabels result={result} mayChange={false} />
      </>
    );
  }
  return (
    <Group gap="xs" align="flex-start">
      {comment !== '' && (
        <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {comment}
        </Text>
      )}
      <Button
        variant="subtle"
        size="compact-sm"
        ml={comment === '' ? -8 : 0}
        leftSection={<IconNote size={16} />}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        {comment === '' ? words.add : words.edit}
      </Button>
      <Tooltip label={words.pinHelp} multiline w={240}>
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<Icon size={16} />}
          aria-pressed={pinned}
          loading={change.isPending}
          onClick={() => change.mutate({ pinned: !pinned })}
        >
          {pinned ? words.unpin : words.pin}
        </Button>
      </Tooltip>
      <RunLabels result={result} mayChange />
      {isOpen && <NoteDialog result={result} onClose={() => setOpen(false)} />}
    </Group>
  );
};

const NoteDialog = ({ result, onClose }: { result: RunResult; onClose: () => void }) => {
  const [typed, setTyped] = useState(result.comment);
  const change = useRunChange(result);
  return (
    <FormDialog
      title={words.title}
      size="md"
      onClose={onClose}
      onSubmit={() => change.mutate({ comment: typed.trim() }, { onSuccess: onClose })}
      isBusy={change.isPending}
    >
      <Textarea
        label={words.note}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        autosize
        minRows={3}
        maxLength={4096}
      />
    </FormDialog>
  );
};
