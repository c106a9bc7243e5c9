import { Group, Text } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { IconButton } from '../../components/buttons.tsx';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { ConfirmDialog } from '../../components/dialogs.tsx';
import { Section } from '../../components/page.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { text } from '../../lib/text.ts';
import type { Parameter } from './parameter.ts';

const { applications: words } = text;

interface ParameterTableProps {
  parameters: readonly Parameter[];
  /** Left out where nothing may be changed, like `onRemove`. */
  onEdit?: (parameter: Parameter) => void;
  onRemove?: (id: number) => Promise<void>;
}

const columns: readonly DataColumn<Parameter>[] = [
  { header: words.name, cell: ({ name }) => name },
  {
    header: words.source,
    cell: ({ source, defaultValue, allowedValues }) => (
      <>
        {source}
        <Text size="xs" c="dimmed" lineClamp={1}>
          {defaultValue || allowedValues.slice(0, 5).join(', ')}
        </Text>
      </>
    ),
  },
  { header: words.where, cell: ({ stepsMappings }) => words.positions(stepsMappings.length) },
];

/** The values that vary between users, and how often each occurs. */
export const ParameterTable = ({ parameters, onEdit, onRemove }: ParameterTableProps) => {
  const actions: DataColumn<Parameter> | false = onEdit !== undefined &&
    onRemove !== undefined && {
      label: text.table.edit,
      width: 80,
      cell: (parameter) => (
        <Group gap={2} wrap="nowrap">
          <IconButton label={words.edit(parameter.name)} icon={IconPencil} onClick={() => onEdit(parameter)} />
          <RemoveParameter parameter={parameter} onRemove={onRemove} />
        </Group>
      ),
    };
  return (
    <Section title={words.parameters}>
      {parameters.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.noParameters}
        </Text>
      ) : (
        <DataTable label={words.parameters} columns={[...columns, actions]} rows={parameters} keyOf={({ id }) => id} />
      )}
    </Section>
  );
};

interface RemoveParameterProps {
  parameter: Parameter;
  onRemove: (id: number) => Promise<void>;
}

const RemoveParameter = ({ parameter: { id, name }, onRemove }: RemoveParameterProps) => {
  const [isAsking, setAsking] = useState(false);
  const toasts = useToasts();
  const remove = () => {
    setAsking(false);
    void onRemove(id).catch(toasts.problem);
  };
  return (
    <>
      <IconButton label={words.remove(name)} icon={IconTrash} color="red" onClick={() => setAsking(true)} />
      {isAsking && (
        <ConfirmDialog
          title={words.remove(name)}
          label={text.table.remove}
          color="red"
          onConfirm={remove}
          onClose={() => setAsking(false)}
        >
          {words.removeQuestion(name)}
        </ConfirmDialog>
      )}
    </>
  );
};
