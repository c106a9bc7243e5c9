import { Badge, Button, Group, TextInput } from '@mantine/core';
import type { RunResult } from '@rushhour/contract';
import { IconPlus, IconTag, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { IconButton } from '../../../components/buttons.tsx';
import { DialogButton, FormDialog } from '../../../components/dialogs.tsx';
import { text } from '../../../lib/text.ts';
import { useRunChange } from './use-run-change.ts';

const { notes: words } = text;

/** The topology shows the device. */
const isOfDevice = (name: string) => /^device([A-Z]|$)/.test(name);

/** The labels of a run, and a dialog that changes them. */
export const RunLabels = ({ result, mayChange }: { result: RunResult; mayChange: boolean }) => (
  <Group gap={6}>
    {Object.entries(result.labels)
      .filter(([name]) => !isOfDevice(name))
      .map(([name, value]) => (
        <Badge key={name} variant="default" tt="none" fw={500}>
          {name}: {value}
        </Badge>
      ))}
    {mayChange && (
      <DialogButton label={words.editLabels} variant="subtle" size="compact-sm" leftSection={<IconTag size={16} />}>
        {(close) => <LabelsDialog result={result} onClose={close} />}
      </DialogButton>
    )}
  </Group>
);

type Pair = readonly [name: string, value: string];

const LabelsDialog = ({ result, onClose }: { result: RunResult; onClose: () => void }) => {
  const [pairs, setPairs] = useState<readonly Pair[]>(Object.entries(result.labels));
  const change = useRunChange(result);
  const set = (index: number, pair: Pair) => setPairs(pairs.map((one, i) => (i === index ? pair : one)));
  const save = () => {
    const labels = Object.fromEntries(
      pairs.map(([name, value]) => [name.trim(), value.trim()] as const).filter(([name]) => name !== ''),
    );
    change.mutate({ labels }, { onSuccess: onClose });
  };
  return (
    <FormDialog title={words.labels} size="md" onClose={onClose} onSubmit={save} isBusy={change.isPending}>
      {pairs.map(([name, value], i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: labels are typed here, so that only their position identifies them
        <Group key={i} align="flex-end" wrap="nowrap">
          <TextInput
            label={words.labelName}
            value={name}
            maxLength={64}
            onChange={(event) => set(i, [event.currentTarget.value, value])}
            style={{ flex: 1 }}
          />
          <TextInput
            label={words.labelValue}
            value={value}
            maxLength={256}
            onChange={(event) => set(i, [name, event.currentTarget.value])}
            style={{ flex: 1 }}
          />
          <IconButton
            label={words.removeLabel(name)}
            icon={IconTrash}
            color="red"
            onClick={() => setPairs(pairs.filter((_, at) => at !== i))}
          />
        </Group>
      ))}
      <Group>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconPlus size={16} />}
          onClick={() => setPairs([...pairs, ['', '']])}
        >
          {words.addLabel}
        </Button>
      </Group>
    </FormDialog>
  );
};
