import { SimpleGrid, Stack, TextInput } from '@mantine/core';
import { DeviceFields } from '../../components/device-fields.tsx';
import { RecordSelect } from '../../components/schema-form/record-select.tsx';
import { text } from '../../lib/text.ts';
import type { NewTestForm, TestSubject } from './new-test-form.ts';

const { newTest: words } = text;

interface SubjectFieldsProps {
  subject: TestSubject;
  /** Name of the chosen template. */
  template: string | undefined;
  onChange: (members: Partial<NewTestForm>) => void;
}

/** What is tested: name, project and device. */
export const SubjectFields = ({ subject, template, onChange }: SubjectFieldsProps) => (
  <Stack gap="xs">
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      <TextInput
        label={words.name}
        placeholder={template ?? words.namePlaceholder}
        value={subject.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <RecordSelect
        name="projects"
        label={text.editor.project}
        value={subject.projectID}
        onChange={(projectID) => onChange({ projectID })}
        clearable
      />
    </SimpleGrid>
    <DeviceFields device={subject.device} onChange={(device) => onChange({ device })} />
  </Stack>
);
