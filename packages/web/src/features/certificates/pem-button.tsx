import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { saveAs } from '../../lib/save-as.ts';
import { text } from '../../lib/text.ts';

/** The certificate and its chain as one file; the private key stays. */
export const PemButton = ({ id, name }: { id: number; name: string }) => {
  const toasts = useToasts();
  const save = async () => {
    try {
      const { data } = await client.certificates.get({ params: { id }, query: { format: 'pem' } });
      saveAs(new Blob([data.pem ?? ''], { type: 'application/x-pem-file' }), `${name}.pem`);
    } catch (error) {
      toasts.problem(error);
    }
  };
  return (
    <Button variant="default" leftSection={<IconDownload size={16} />} onClick={() => void save()}>
      {text.certificates.download}
    </Button>
  );
};
