import { Badge, Button, FileInput, Group, Modal, Progress, Select, Stack, Text } from '@mantine/core';
import { IconUpload } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { type DataColumn, DataTable } from '../data-table.tsx';
import { DialogButton } from '../dialogs.tsx';
import { Pages } from '../page.tsx';
import { Problem } from '../problem.tsx';

const { imports } = text;
const rowsPerPage = 20;

/** The result of one template, row or sample. */
interface ImportLine {
  /** Path or row number in the imported file. */
  readonly position: string;
  readonly name: string;
  readonly status: string;
  readonly reason: string;
}

const colors: Readonly<Record<string, string>> = {
  imported: 'teal',
  created: 'teal',
  updated: 'blue',
  disabled: 'yellow',
  refused: 'red',
  skipped: 'orange',
};

const columns: readonly DataColumn<ImportLine>[] = [
  { cell: ({ name, position }) => name || position, isLong: true },
  {
    cell: ({ status }) => (
      <Badge color={colors[status] ?? 'gray'} variant="dot" tt="none">
        {status}
      </Badge>
    ),
  },
  { cell: ({ reason }) => reason, isLong: true },
];

/** The results of an import, with a filter by status. */
const ImportReport = ({ lines }: { lines: readonly ImportLine[] }) => {
  const [status, setStatus] = useState<string | null>(null);
  const [page, setPage] = useState(1);
  const byStatus = Map.groupBy(lines, (line) => line.status);
  const shown = status === null ? lines : (byStatus.get(status) ?? []);
  return (
    <Stack gap="xs" component="section" aria-label={imports.report}>
      <Group justify="space-between">
        <Text size="sm" role="status">
          {[...byStatus].map(([name, found]) => `${found.length} ${name}`).join(', ') || imports.nothing}
        </Text>
        <Select
          aria-label={text.columns.status}
          placeholder={text.columns.status}
          data={[...byStatus.keys()]}
          value={status}
          onChange={(next) => {
            setStatus(next);
            setPage(1);
          }}
          size="xs"
          clearable
        />
      </Group>
      <DataTable
        columns={columns}
        rows={shown.slice((page - 1) * rowsPerPage, page * rowsPerPage)}
        keyOf={({ position, name }) => `${position} ${name}`}
        minWidth={420}
      />
      <Pages total={shown.length / rowsPerPage} page={page} onPage={setPage} />
    </Stack>
  );
};

const pollMs = 1000;

interface ImportButtonProps {
  title: string;
  /** Form fields besides the file. */
  children: ReactNode;
  run: (file: File) => Promise<readonly ImportLine[]>;
  /** The collection that receives the records. */
  collection: string;
}

/** Imports a file and reports the result of every record in it. */
export const ImportButton = (props: ImportButtonProps) => (
  <DialogButton label={imports.button} variant="default" leftSection={<IconUpload size={16} />}>
    {(close) => <ImportDialog {...props} onClose={close} />}
  </DialogButton>
);

const ImportDialog = ({ title, children, run, collection, onClose }: ImportButtonProps & { onClose: () => void }) => {
  const [file, setFile] = useState<File | null>(null);
  const queries = useQueryClient();
  const execute = useMutation({
    mutationFn: run,
    onSuccess: () => queries.invalidateQueries({ queryKey: [collection] }),
  });
  return (
    <Modal opened onClose={onClose} title={title} size="xl">
      <Stack>
        <FileInput label={imports.file} value={file} onChange={setFile} data-autofocus />
        {children}
        {execute.isPending && <ImportProgress />}
        {execute.error && <Problem error={execute.error} />}
        {execute.data && <ImportReport lines={execute.data} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {text.app.close}
          </Button>
          <Button
            loading={execute.isPending}
            disabled={file === null}
            leftSection={<IconUpload size={16} />}
            onClick={() => file && execute.mutate(file)}
          >
            {imports.start}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
};

/** Progress of a long import, which the controller reports by notifications. */
const ImportProgress = () => {
  const [since] = useState(() => Date.now());
  const { data } = useQuery({
    queryKey: ['notifications', 'progress', since],
    queryFn: async () => (await client.notifications.list({ query: { count: 5 } })).data,
    refetchInterval: pollMs,
  });
  const newest = data?.find(({ kind, createdAt }) => kind.endsWith('.progress') && Date.parse(createdAt) >= since);
  return (
    <Stack gap={4}>
      <Progress value={100} animated aria-label={imports.running} />
      <Text size="sm" role="status">
        {newest?.message ?? imports.running}
      </Text>
    </Stack>
  );
};
