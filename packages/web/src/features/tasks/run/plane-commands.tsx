import { Button, Group, NumberInput, Select, Text, TextInput } from '@mantine/core';
import { type PlaneCommand, planeActions, type Task } from '@rushhour/contract';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Explanation } from '../../../components/explanation.tsx';
import { client } from '../../../lib/client.ts';
import { text } from '../../../lib/text.ts';

const { rows: words } = text;

type Plane = PlaneCommand['plane'];
interface Entry {
  value: string;
  label: string;
  plane: Plane;
  index: number;
}

/** Entries of a task that obey commands. */
const entriesOf = ({ accessPlane, controlPlane }: Task): Entry[] => {
  const of = (plane: Plane, list: readonly unknown[]): Entry[] =>
    list.map((_, index) => ({ value: `${plane}-${index}`, label: words.entry[plane](index + 1), plane, index }));
  return [...of('access', accessPlane), ...of('control', controlPlane)];
};

/** Starts, stops and restarts emulated sessions and routers while a task runs. */
export const PlaneCommands = ({ task }: { task: Task }) => {
  const entries = entriesOf(task);
  const [chosen, choose] = useState<string>();
  const [action, setAction] = useState<PlaneCommand['action']>('restart');
  const [range, setRange] = useState<{ from?: number; to?: number }>({});
  const [values, setValues] = useState('');
  const entry = entries.find(({ value }) => value === chosen) ?? entries[0];
  const send = useMutation({
    mutationFn: async () => {
      if (entry === undefined) return;
      const { plane, index } = entry;
      const given = values.split(/[\s,]+/).filter((value) => value !== '');
      const command = { plane, index, action, ...range, ...(given.length > 0 && { values: given }) };
      const { data } = await client.tasks.changeLoad({ body: { id: task.id, commands: [command] } });
      const reason = data.commands[0]?.reason ?? '';
      if (reason !== '') throw new Error(reason);
    },
  });
  if (entry === undefined) return null;
  const setEnd = (name: 'from' | 'to') => (value: string | number) =>
    setRange(({ [name]: _, ...others }) => (value === '' ? others : { ...others, [name]: Number(value) }));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send.mutate();
      }}
    >
      <Group gap="xs" align="end">
        <Select
          label={words.for}
          data={entries.map(({ value, label }) => ({ value, label }))}
          value={entry.value}
          onChange={(value) => choose(value ?? undefined)}
          allowDeselect={false}
        />
        <Select
          label={words.action}
          data={planeActions.map((value) => ({ value, label: words.actions[value] }))}
          value={action}
          onChange={(value) => setAction(value as PlaneCommand['action'])}
          allowDeselect={false}
        />
        <NumberInput label={words.from} min={0} w={90} onChange={setEnd('from')} />
        <NumberInput label={words.to} min={0} w={90} onChange={setEnd('to')} />
        <TextInput label={words.values} value={values} onChange={(event) => setValues(event.currentTarget.value)} />
        <Button type="submit" variant="default" loading={send.isPending}>
          {words.send}
        </Button>
      </Group>
      {send.error && (
        <Text size="sm" c="red" role="alert">
          <Explanation error={send.error} />
        </Text>
      )}
    </form>
  );
};
