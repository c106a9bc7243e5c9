import { Alert, Button, FileButton, Group, Modal, SegmentedControl, Stack } from '@mantine/core';
import { RequestFailed } from '@rushhour/client';
import { api, certificateDefects } from '@rushhour/contract';
import { IconFileImport } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { Problem } from '../../components/problem.tsx';
import type { CreateFormProps } from '../../components/resource/resource.ts';
import type { ObjectSchema, Schema } from '../../components/schema-form/schema.ts';
import { SchemaFields, type Value } from '../../components/schema-form/schema-fields.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';

const { certificates: words } = text;
const body = api.certificates.routes.create.body as unknown as ObjectSchema;
const generate = body.properties['generate'] as ObjectSchema;
const pick = (from: Record<string, Schema>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, from[name] ?? {}]));

/** The list of defects says what each does; the field shows the sentence of the chosen one. */
const made: ObjectSchema = {
  ...generate,
  properties: {
    ...generate.properties,
    defect: { ...generate.properties['defect'], description: words.defect },
  },
};
const schemas = {
  make: { properties: { ...pick(body.properties, ['name']) }, required: ['name'] },
  bring: { properties: pick(body.properties, ['name', 'public', 'private', 'passphrase']), required: ['name'] },
} as const;

const useCreate = ({ onClose, onSaved }: CreateFormProps) => {
  const [issues, setIssues] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const toasts = useToasts();
  const create = async (event: FormEvent, value: Value) => {
    event.preventDefault();
    setBusy(true);
    setIssues({});
    setProblem(undefined);
    try {
      await client.certificates.create({ body: value as never });
      toasts.done(text.table.created);
      onSaved();
      onClose();
    } catch (error) {
      const found = (error instanceof RequestFailed && error.data.issues) || [];
      setIssues(Object.fromEntries(found.map(({ path, message }) => [path, message])));
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return { issues, problem, isBusy, create };
};

/** A certificate is made, also one that is wrong on purpose, or brought along as PEM or PKCS#12. */
export const NewCertificateDialog = (props: CreateFormProps) => {
  const [way, setWay] = useState<'make' | 'bring'>('make');
  const [value, setValue] = useState<Value>({});
  const [making, setMaking] = useState<Value>({ kind: 'self-signed' });
  const { issues, problem, isBusy, create } = useCreate(props);
  const { name, ...rest } = value;
  const whole = way === 'make' ? { name, generate: making } : { name, ...rest };
  const defect = making['defect'] as keyof typeof certificateDefects | undefined;
  return (
    <Modal
      opened
      onClose={props.onClose}
      title={text.form.new(text.record['certificates'] ?? '')}
      size="lg"
      closeOnClickOutside={false}
    >
      <form onSubmit={(event) => void create(event, whole)} noValidate>
        <Stack>
          <SegmentedControl
            value={way}
            onChange={(next) => setWay(next as typeof way)}
            data={[
              { value: 'make', label: words.generate },
              { value: 'bring', label: words.import },
            ]}
          />
          <SchemaFields schema={schemas[way]} value={value} onChange={setValue} issues={issues} path="" />
          {way === 'make' ? (
            <>
              <SchemaFields schema={made} value={making} onChange={setMaking} issues={issues} path="/generate" />
              {defect && <Alert color="yellow">{certificateDefects[defect]}</Alert>}
            </>
          ) : (
            <FileReader onRead={(members) => setValue({ ...value, ...members })} />
          )}
          {problem !== undefined && <Problem error={problem} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={props.onClose}>
              {text.table.cancel}
            </Button>
            <Button type="submit" loading={isBusy}>
              {text.table.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
};

const FileReader = ({ onRead }: { onRead: (members: Value) => void }) => {
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

/** A file may hold certificates, a key, or both. */
const partsOf = (pem: string): Value => {
  const blocks = pem.match(/-----BEGIN [^-]+-----[\s\S]+?-----END [^-]+-----/g) ?? [];
  const isKey = (block: string) => /BEGIN [A-Z ]*PRIVATE KEY/.test(block);
  const keys = blocks.filter(isKey).join('\n');
  const others = blocks.filter((block) => !isKey(block)).join('\n');
  return { ...(others && { public: others }), ...(keys && { private: keys }) };
};
