import { Alert, Badge, Button, FileInput, Group, List, Modal, Select, Stack, Table, Text } from '@mantine/core';
import { type ImportBody, type ImportKind, type ImportPlan, importKinds } from '@rushhour/contract';
import { IconUpload } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { sentenceOf, useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { absoluteTime } from '../../lib/times.ts';

const { transfer } = text;

export const ImportButton = () => {
  const [isOpen, setOpen] = useState(false);
  const may = useMay();
  if (!may('tasks', 'import')) return null;
  return (
    <>
      <Button variant="default" leftSection={<IconUpload size={16} />} onClick={() => setOpen(true)}>
        {text.task.import}
      </Button>
      {isOpen && <ImportDialog onClose={() => setOpen(false)} />}
    </>
  );
};

type Chosen = Readonly<Record<string, number>>;
const keyOf = ({ kind, sourceId }: { kind: string; sourceId: number }) => `${kind} ${sourceId}`;

/** An archive is looked into first: what is here already, what will be made, and what a person must choose. */
const ImportDialog = ({ onClose }: { onClose: () => void }) => {
  const [file, setFile] = useState<File | null>(null);
  const [chosen, setChosen] = useState<Chosen>({});
  const toasts = useToasts();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const look = useMutation({
    mutationFn: async (archive: File) =>
      (await client.tasks.importPlan({ upload: { fields: {}, file: archive, filename: archive.name } } as never)).data,
    onSuccess: (plan) => setChosen(proposedIn(plan)),
  });
  const plan = look.data;
  const carryOut = useMutation({
    mutationFn: async (importId: string) =>
      (await client.tasks.import({ body: { importId, mapping: mappingOf(chosen) } })).data,
    onSuccess: async ({ id, warnings }) => {
      toasts.done(transfer.imported, warnings.join('\n'));
      await queries.invalidateQueries();
      await navigate({ to: '/tasks/$id', params: { id: String(id) }, search: { tab: 'definition' } });
    },
  });
  const problem = carryOut.error ?? look.error;
  return (
    <Modal opened onClose={onClose} title={transfer.importTitle} size="xl">
      <Stack>
        <Group align="flex-end">
          <FileInput
            label={transfer.choose}
            accept=".zip,application/zip"
            value={file}
            onChange={setFile}
            style={{ flex: 1 }}
          />
          <Button loading={look.isPending} disabled={file === null} onClick={() => file && look.mutate(file)}>
            {transfer.preview}
          </Button>
        </Group>
        {plan && <Plan plan={plan} chosen={chosen} onChoose={setChosen} />}
        {problem && (
          <Alert color="red" variant="default" role="alert" style={{ whiteSpace: 'pre-line' }}>
            {sentenceOf(problem)}
          </Alert>
        )}
        {plan && (
          <Group justify="flex-end">
            <Button loading={carryOut.isPending} onClick={() => carryOut.mutate(plan.importId)}>
              {transfer.apply}
            </Button>
          </Group>
        )}
      </Stack>
    </Modal>
  );
};

/** The only candidate is probably the one that is meant. */
const proposedIn = ({ items }: ImportPlan): Chosen =>
  Object.fromEntries(
    items.flatMap((item) => {
      const [only, ...more] = item.candidates;
      return item.action === 'map' && only !== undefined && more.length === 0 ? [[keyOf(item), only.id]] : [];
    }),
  );

const mappingOf = (chosen: Chosen): NonNullable<ImportBody['mapping']> => {
  const mapping: Partial<Record<ImportKind, Record<string, number>>> = {};
  for (const [key, id] of Object.entries(chosen)) {
    const [kind = '', sourceId = ''] = key.split(' ');
    const known = importKinds.find((one) => one === kind);
    if (known !== undefined) mapping[known] = { ...mapping[known], [sourceId]: id };
  }
  return mapping as NonNullable<ImportBody['mapping']>;
};

interface PlanProps {
  plan: ImportPlan;
  chosen: Chosen;
  onChoose: (chosen: Chosen) => void;
}

const Plan = ({ plan, chosen, onChoose }: PlanProps) => (
  <Stack gap="xs">
    <Text size="sm" fw={600}>
      {transfer.into}
    </Text>
    <Table verticalSpacing={4}>
      <Table.Tbody>
        {plan.items.map((item) => (
          <Table.Tr key={keyOf(item)}>
            <Table.Td>{transfer.kinds[item.kind] ?? item.kind}</Table.Td>
            <Table.Td>{item.name}</Table.Td>
            <Table.Td>
              <Badge variant="default" tt="none">
                {transfer.actions[item.action]}
              </Badge>
            </Table.Td>
            <Table.Td>
              {item.candidates.length > 0 && (
                <Select
                  aria-label={`${item.kind} ${item.name}`}
                  data={item.candidates.map(({ id, name }) => ({ value: String(id), label: name }))}
                  value={String(chosen[keyOf(item)] ?? item.targetId ?? '') || null}
                  onChange={(id) => id !== null && onChoose({ ...chosen, [keyOf(item)]: Number(id) })}
                  size="xs"
                />
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
    {[...plan.problems, ...plan.warnings].length > 0 && (
      <List size="sm">
        {[...plan.problems, ...plan.warnings].map((line) => (
          <List.Item key={line}>{line}</List.Item>
        ))}
      </List>
    )}
    <Text size="xs" c="dimmed">
      {transfer.expires(absoluteTime(plan.expiresAt))}
    </Text>
  </Stack>
);
