import { Checkbox, Group, Select, TextInput } from '@mantine/core';
import type { CveImportFields } from '@rushhour/contract';
import { useState } from 'react';
import { ImportButton } from '../../components/import/import-dialog.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

const { imports } = text;
const formats = Object.entries(imports.signatureFormats).map(([value, label]) => ({ value, label }));
const conflicts = Object.entries(imports.conflicts).map(([value, label]) => ({ value, label }));

const run = async (file: File, fields: CveImportFields) => {
  const { data } = await client.cve.import({ upload: { fields, file, filename: file.name } } as never);
  return data.report.map(({ path, templateId, status, reason }) => ({
    position: path,
    name: templateId,
    status,
    reason,
  }));
};

/** Imports signatures from templates and vulnerability lists. */
export const ImportSignatures = () => {
  const [fields, setFields] = useState<CveImportFields>({ format: 'auto', onConflict: 'replace' });
  const may = useMay();
  if (!may('cve', 'import')) return null;
  return (
    <ImportButton title={imports.signatures} run={(file) => run(file, fields)} collection="cve">
      <SignatureFields fields={fields} onChange={(members) => setFields({ ...fields, ...members })} />
    </ImportButton>
  );
};

interface SignatureFieldsProps {
  fields: CveImportFields;
  onChange: (members: Partial<CveImportFields>) => void;
}

const SignatureFields = ({ fields, onChange }: SignatureFieldsProps) => (
  <>
    <Group grow preventGrowOverflow={false} align="flex-start">
      <Select
        label={imports.format}
        data={formats}
        value={fields.format ?? 'auto'}
        onChange={(format) => onChange({ format: (format ?? 'auto') as NonNullable<CveImportFields['format']> })}
        allowDeselect={false}
      />
      <Select
        label={imports.onConflict}
        data={conflicts}
        value={fields.onConflict ?? 'replace'}
        onChange={(value) =>
          onChange({ onConflict: (value ?? 'replace') as NonNullable<CveImportFields['onConflict']> })
        }
        allowDeselect={false}
      />
      <TextInput
        label={imports.tags}
        value={fields.tags ?? ''}
        onChange={(event) => onChange({ tags: event.currentTarget.value })}
      />
    </Group>
    <Group>
      <Checkbox
        label={imports.dryRun}
        checked={fields.dryRun ?? false}
        onChange={(event) => onChange({ dryRun: event.currentTarget.checked })}
      />
      <Checkbox
        label={imports.enable}
        checked={fields.enable !== 'none'}
        onChange={(event) => onChange({ enable: event.currentTarget.checked ? 'benign' : 'none' })}
      />
    </Group>
  </>
);
