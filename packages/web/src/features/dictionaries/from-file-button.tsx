import { Button, FileButton } from '@mantine/core';
import { IconFileImport } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

/** Creates a dictionary from a CSV, TSV or text file. */
export const FromFileButton = () => {
  const may = useMay();
  const toasts = useToasts();
  const navigate = useNavigate();
  const [isBusy, setBusy] = useState(false);
  if (!may('dictionaries', 'create')) return null;
  const read = async (file: File | null) => {
    if (file === null) return;
    setBusy(true);
    try {
      const fields = { name: file.name.replace(/\.\w+$/, '') };
      const { data } = await client.dictionaries.create({ upload: { fields, file, filename: file.name } });
      await navigate({ to: '/resources/$name/$id', params: { name: 'dictionaries', id: String(data) } });
    } catch (error) {
      toasts.problem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <FileButton onChange={(file) => void read(file)} accept=".csv,.tsv,.txt">
      {(props) => (
        <Button {...props} variant="default" loading={isBusy} leftSection={<IconFileImport size={16} />}>
          {text.dictionaries.fromFile}
        </Button>
      )}
    </FileButton>
  );
};
