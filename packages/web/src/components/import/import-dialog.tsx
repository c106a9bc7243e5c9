import { Button, FileInput, Group, Modal, Stack } from '@mantine/core';
import { IconUpload } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { text } from '../../lib/text.ts';
import { Problem } from '../problem.tsx';
import { ImportProgress } from './import-progress.tsx';
import { type ImportLine, ImportReport } from './import-report.tsx';

const { imports } = text;

interface ImportDialogProps {
  title: string;
  /** What is asked besides the file. */
  children: ReactNode;
  run: (file: File) => Promise<readonly ImportLine[]>;
  /** The collection that grows. */
  grows: string;
  onClose: () => void;
}

/** Takes a file in and shows what became of everything in it. */
export const ImportDialog = ({ title, children, run, grows, onClose }: ImportDialogProps) => {
  const [file, setFile] = useState<File | null>(null);
  const queries = useQueryClient();
  const carryOut = useMutation({
    mutationFn: run,
    onSuccess: () => queries.invalidateQueries({ queryKey: [grows] }),
  });
  return (
    <Modal opened onClose={onClose} title={title} size="xl">
      <Stack>
        <FileInput label={imports.file} value={file} onChange={setFile} data-autofocus />
        {children}
        {carryOut.isPending && <ImportProgress />}
        {carryOut.error && <Problem error={carryOut.error} />}
        {carryOut.data && <ImportReport lines={carryOut.data} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {text.app.close}
          </Button>
          <Button
            loading={carryOut.isPending}
            disabled={file === null}
            leftSection={<IconUpload size={16} />}
            onClick={() => file && carryOut.mutate(file)}
          >
            {imports.start}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
};
