import { SaveButton } from '../../components/buttons.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { saveAs } from '../../lib/downloads.ts';
import { text } from '../../lib/text.ts';

/** Downloads the certificate with its chain, without the private key. */
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
  return <SaveButton label={text.certificates.download} onSave={() => void save()} />;
};
