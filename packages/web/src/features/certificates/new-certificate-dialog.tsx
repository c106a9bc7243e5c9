import { Alert, Button, FileButton, SegmentedControl } from '@mantine/core';
import { api, certificateDefects } from '@rushhour/contract';
import { IconFileImport } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { FormDialog } from '../../components/dialogs.tsx';
import type { CreateFormProps } from '../../components/resource/resource.ts';
import type { ObjectSchema, Schema } from '../../components/schema-form/schema.ts';
import { SchemaFields, type Value } from '../../components/schema-form/schema-fields.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { issuesIn } from '../../lib/issues.ts';
import { text } from '../../lib/text.ts';

const { certificates: words } = text;
const body = api.certificates.routes.create.body as unknown as ObjectSchema;
const generate = body.properties['generate'] as ObjectSchema;
const pick = (from: Record<string, Schema>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, from[name] ?? {}]));

/** The description of `defect` lists all defects; the form shows only that of the selected one. */
const generated: ObjectSchema = {
  ...generate,
  properties: {
    ...generate.properties,
    defect: { ...generate.properties['defect'], description: words.defect },
  },
};
const schemas = {
  generate: { properties: pick(body.properties, ['name']), required: ['name'] },
  import: { properties: pick(body.properties, ['name', 'public', 'private', 'passphrase']), required: ['name'] },
} as const;

/** Generates a certificate, with a deliberate defect if wanted, or imports one as PEM or PKCS #12. */
export const NewCertificateDialog = ({ onClose, onSaved }: CreateFormProps) => {
  const [mode, setMode] = useState<'generate' | 'import'>('generate');
  const [value, setValue] = useState<Value>({});
  const [generation, setGeneration] = useState<Value>({ kind: 'self-signed' });
  const toasts = useToasts();
  const draft = mode === 'generate' ? { name: value['name'], generate: generation } : value;
  const create = useMutation({
    mutationFn: () => client.certificates.create({ body: draft as never }),
    onSuccess: () => {
      toasts.done(text.table.created);
      onSaved();
      onClose();
    },
  });
  const issues = issuesIn(create.error);
  const defect = generation['defect'] as keyof typeof certificateDefects | undefined;
  return (
    <FormDialog
      title={text.form.new(text.record['certificates'] ?? '')}
      onClose={onClose}
      onSubmit={create.mutate}
      error={create.error}
      isBusy={create.isPending}
    >
      <SegmentedControl
        value={mode}
        onChange={(next) => setMode(next as typeof mode)}
        data={[
          { value: 'generate', label: words.generate },
          { value: 'import', label: words.import },
        ]}
      />
      <SchemaFields schema={schemas[mode]} value={value} onChange={setValue} issues={issues} path="" />
      {mode === 'generate' ? (
        <>
          <SchemaFields
            schema={generated}
            value={generation}
            onChange={setGeneration}
            issues={issues}
            path="/generate"
          />
          {defect && <Alert color="yellow">{certificateDefects[defect]}</Alert>}
        </>
      ) : (
        <PemFileButton onRead={(members) => setValue({ ...value, ...members })} />
      )}
    </FormDialog>
  );
};

const PemFileButton = ({ onRead }: { onRead: (members: Value) => void }) => {
  const read = async (file: File | null) => {
    if (file === null) return;
    const name = file.name.replace(/\.\w+$/, '');
    if (!/\.(p12|pfx)$/i.test(file.name)) return onRead({ name, ...partsOf(await file.text()) });
    const bytes = new Uint8Array(await file.arrayBuffer());
    onRead({ name, pkcs12: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')) });
  };
  return (
    <FileButton onChange={(file) => void read(file)} accept=".pem,.crt,.cer,.key,.p12,.pfx">
      {(props) => (
        <Button {...props} variant="default" leftSection={<IconFileImport size={16} />}>
          {words.fromFile}
        </Button>
      )}
    </FileButton>
  );
};

/** A PEM file may hold certificates, a private key, or both. */
const partsOf = (pem: string): Value => {
  const blocks = pem.match(/-----BEGIN [^-]+-----[\s\S]+?-----END [^-]+-----/g) ?? [];
  const isKey = (block: string) => /BEGIN [A-Z ]*PRIVATE KEY/.test(block);
  const keys = blocks.filter(isKey).join('\n');
  const others = blocks.filter((block) => !isKey(block)).join('\n');
  return { ...(others && { public: others }), ...(keys && { private: keys }) };
};
