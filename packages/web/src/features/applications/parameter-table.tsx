import { ActionIcon, Button, Card, Group, Modal, Stack, Table, Text, Title } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useToasts } from '../../components/toasts.tsx';
import { text } from '../../lib/text.ts';
import type { Parameter } from './parameter.ts';

const { applications: words } = text;

interface ParameterTableProps {
  parameters: readonly Parameter[];
  onEdit?: (parameter: Parameter) => void;
  onRemove?: (id: number) => Promise<void>;
}

/** What differs from user to user, and where. */
export const ParameterTable = ({ parameters, onEdit, onRemove }: ParameterTableProps) => (
  <Card withBorder>
    <Title order={2} size="h5" mb="xs">
      {words.parameters}
    </Title>
    {parameters.length === 0 ? (
      <Text size="sm" c="dimmed">
        {words.noParameters}
      </Text>
    ) : (
      <Table.ScrollContainer minWidth={320} tabIndex={0}>
        <Table verticalSpacing={4} aria-label={words.parameters}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.name}</Table.Th>
              <Table.Th>{words.source}</Table.Th>
              <Table.Th>{words.where}</Table.Th>
              {onEdit && <Table.Th w={80} aria-label={text.table.edit} />}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {parameters.map((parameter) => (
              <Table.Tr key={parameter.id}>
                <Table.Td>{parameter.name}</Table.Td>
                <Table.Td>
                  {parameter.source}
                  <Text size="xs" c="dimmed" lineClamp={1}>
                    {parameter.defaultValue || parameter.allowedValues.slice(0, 5).join(', ')}
                  </Text>
                </Table.Td>
                <Table.Td>{words.positions(parameter.stepsMappings.length)}</Table.Td>
                {onEdit && onRemove && (
                  <Table.Td>
                    <Group gap={2} wrap="nowrap">
                      <ActionIcon
                        variant="subtle"
                        color="gray"
                        aria-label={words.edit(parameter.name)}
                        onClick={() => onEdit(parameter)}
                      >
                        <IconPencil size={16} />
                      </ActionIcon>
                      <RemoveParameter parameter={parameter} onRemove={onRemove} />
                    </Group>
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    )}
  </Card>
);

interface RemoveParameterProps {
  parameter: Parameter;
  onRemove: (id: number) => Promise<void>;
}

const RemoveParameter = ({ parameter, onRemove }: RemoveParameterProps) => {
  const [isAsking, setAsking] = useState(false);
  const toasts = useToasts();
  const remove = async () => {
    setAsking(false);
    await onRemove(parameter.id).catch(toasts.problem);
  };
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="red"
        aria-label={words.remove(parameter.name)}
        onClick={() => setAsking(true)}
      >
        <IconTrash size={16} />
      </ActionIcon>
      <Modal opened={isAsking} onClose={() => setAsking(false)} title={words.remove(parameter.name)}>
        <Stack>
          <Text size="sm">{words.removeQuestion(parameter.name)}</Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setAsking(false)}>
              {text.table.cancel}
            </Button>
            <Button color="red" onClick={() => void remove()}>
              {text.table.remove}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
};
