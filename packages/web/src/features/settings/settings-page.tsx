import { Button, Group, Skeleton, Stack, Tabs, Text } from '@mantine/core';
import { Settings } from '@rushhour/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { PageHeading } from '../../components/page.tsx';
import type { ObjectSchema, Schema } from '../../components/schema-form/schema.ts';
import { SchemaFields, type Value } from '../../components/schema-form/schema-fields.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { issuesIn } from '../../lib/issues.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';
import { labelOf } from '../../texts/labels.ts';
import { SendTest } from './send-test.tsx';

const sections = Settings.properties as unknown as Record<string, Schema>;

/** All settings, generated from their schema. Each section is saved separately and takes effect immediately. */
export const SettingsPage = () => {
  const { text: read, set } = usePageSearch();
  const { data } = useQuery({ queryKey: ['settings'], queryFn: async () => (await client.settings.get()).data });
  if (data === undefined) return <Skeleton height={400} />;
  return (
    <Stack>
      <PageHeading title={text.nav.settings} />
      <Tabs
        value={read('tab') ?? 'auth'}
        onChange={(tab) => set({ tab: tab ?? undefined })}
        orientation="horizontal"
        keepMounted={false}
      >
        <Tabs.List>
          {Object.keys(sections).map((name) => (
            <Tabs.Tab key={name} value={name}>
              {labelOf(name)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {Object.entries(sections).map(([name, schema]) => (
          <Tabs.Panel key={name} value={name} pt="md" maw={640}>
            <SettingsSection name={name} schema={schema} stored={(data as Record<string, unknown>)[name]} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  );
};

interface SettingsSectionProps {
  name: string;
  schema: Schema;
  stored: unknown;
}

const SettingsSection = ({ name, schema, stored }: SettingsSectionProps) => {
  const [value, setValue] = useState<Value>({ [name]: stored });
  const toasts = useToasts();
  const queries = useQueryClient();
  const may = useMay();
  const save = useMutation({
    mutationFn: () => client.settings.update({ body: value as never }),
    onSuccess: () => {
      toasts.done(text.table.saved);
      return queries.invalidateQueries({ queryKey: ['settings'] });
    },
    onError: (error) => Object.keys(issuesIn(error)).length === 0 && toasts.problem(error),
  });
  const shown: ObjectSchema = { properties: { [name]: schema }, required: [name] };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack>
        <SchemaFields schema={shown} value={value} onChange={setValue} issues={issuesIn(save.error)} path="" />
        {may('settings', 'update') ? (
          <Group justify="flex-end">
            <Button type="submit">{text.table.save}</Button>
          </Group>
        ) : (
          <Text c="dimmed">{text.settings.readOnly}</Text>
        )}
        {may('settings', 'update') && <SendTest section={name} stored={stored} />}
      </Stack>
    </form>
  );
};
