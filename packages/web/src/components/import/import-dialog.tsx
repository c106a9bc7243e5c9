import { Button, FileInput, Group, Modal, Progress, Stack, Text } from '@mantine/core';
import { IconUpload } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { DialogButton } from '../dialogs.tsx';
import { Problem } from '../problem.tsx';
import { type ImportLine, ImportReport } from './import-report.tsx';

const { imports } = text;
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
