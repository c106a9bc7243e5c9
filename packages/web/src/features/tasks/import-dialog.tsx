import { Badge, Button, FileInput, Group, List, Modal, Select, Stack, Text } from '@mantine/core';
import { type ImportBody, type ImportKind, type ImportPlan, importKinds } from '@rushhour/contract';
import { IconUpload } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { DialogButton } from '../../components/dialogs.tsx';
import { Problem } from '../../components/problem.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { absoluteTime } from '../../lib/times.ts';

const { transfer } = text;

export const ImportTaskButton = () =>
  useMay()('tasks', 'import') && (
    <DialogButton label={text.task.import} variant="default" leftSection={<IconUpload size={16} />}>
      {(close) => <ImportDialog onClose={close} />}
    </DialogButton>
  );

type Mapping = Readonly<Record<string, number>>;
const keyOf = ({ kind, sourceId }: { kind: string; sourceId: number }) => `${kind} ${sourceId}`;

/** Previews an archive: which of its records exist, which will be created, and which the user must map. */
const ImportDialog = ({ onClose }: { onClose: () => void }) => {
  const [file, setFile] = useState<File | null>(null);
  const [mapping, setMapping] = useState<Mapping>({});
  const toasts = useToasts();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const preview = useMutation({
    mutationFn: async (archive: File) =>
      (await client.tasks.importPlan({ upload: { fields: {}, file: archive, filename: archive.name } } as never)).data,
    onSuccess: (plan) => setMapping(suggestedIn(plan)),
  });
  const plan = preview.data;
  const execute = useMutation({
    mutationFn: async (importId: string) =>
      (await client.tasks.import({ body: { importId, mapping: bodyOf(mapping) } })).data,
    onSuccess: async ({ id, warnings }) => {
      toasts.done(transfer.imported, warnings.join('\n'));
      await queries.invalidateQueries();
      await navigate({ to: '/tasks/$id', params: { id: String(id) }, search: { tab: 'definition' } });
    },
  });
  const problem = execute.error ?? preview.error;
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
          <Button loading={preview.isPending} disabled={file === null} onClick={() => file && preview.mutate(file)}>
            {transfer.preview}
          </Button>
        </Group>
        {plan && <Plan plan={plan} mapping={mapping} onChange={setMapping} />}
        {problem && <Problem error={problem} />}
        {plan && (
          <Group justify="flex-end">
            <Button loading={execute.isPending} onClick={() => execute.mutate(plan.importId)}>
              {transfer.apply}
            </Button>
          </Group>
        )}
      </Stack>
    </Modal>
  );
};

/** Selects the candidate where there is only one. */
const suggestedIn = ({ items }: ImportPlan): Mapping =>
  Object.fromEntries(
    items.flatMap((item) => {
      const [only, ...more] = item.candidates;
      return item.action === 'map' && only !== undefined && more.length === 0 ? [[keyOf(item), only.id]] : [];
    }),
  );

const bodyOf = (given: Mapping): NonNullable<ImportBody['mapping']> => {
  const mapping: Partial<Record<ImportKind, Record<string, number>>> = {};
  for (const [key, id] of Object.entries(given)) {
    const [kind = '', sourceId = ''] = key.split(' ');
    const known = importKinds.find((one) => one === kind);
    if (known !== undefined) mapping[known] = { ...mapping[known], [sourceId]: id };
  }
  return mapping as NonNullable<ImportBody['mapping']>;
};

interface PlanProps {
  plan: ImportPlan;
  mapping: Mapping;
  onChange: (mapping: Mapping) => void;
}

type PlanItem = ImportPlan['items'][number];

const columnsOf = ({ mapping, onChange }: Omit<PlanProps, 'plan'>): DataColumn<PlanItem>[] => [
  { cell: ({ kind }) => transfer.kinds[kind] ?? kind },
  { cell: ({ name }) => name },
  {
    cell: ({ action }) => (
      <Badge variant="default" tt="none">
        {transfer.actions[action]}
      </Badge>
    ),
  },
  {
    cell: (item) =>
      item.candidates.length > 0 && (
        <Select
          aria-label={`${item.kind} ${item.name}`}
          data={item.candidates.map(({ id, name }) => ({ value: String(id), label: name }))}
          value={String(mapping[keyOf(item)] ?? item.targetId ?? '') || null}
          onChange={(id) => id !== null && onChange({ ...mapping, [keyOf(item)]: Number(id) })}
          size="xs"
        />
      ),
  },
];

const Plan = ({ plan, ...props }: PlanProps) => (
  <Stack gap="xs">
    <Text size="sm" fw={600}>
      {transfer.into}
    </Text>
    <DataTable columns={columnsOf(props)} rows={plan.items} keyOf={keyOf} />
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
