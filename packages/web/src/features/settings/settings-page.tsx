import { Button, Group, Skeleton, Stack, Tabs, Text, Title } from '@mantine/core';
import { RequestFailed } from '@rushhour/client';
import { Settings } from '@rushhour/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { labelOf, type ObjectSchema, type Schema } from '../../components/schema-form/schema.ts';
import { SchemaFields, type Value } from '../../components/schema-form/schema-fields.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

const sections = Settings.properties as unknown as Record<string, Schema>;

/** Every setting, made from its schema; a section is saved on its own and works at once. */
export const SettingsPage = () => {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const { data } = useQuery({ queryKey: ['settings'], queryFn: async () => (await client.settings.get()).data });
  if (data === undefined) return <Skeleton height={400} />;
  return (
    <Stack>
      <Title order={1} size="h2">
        {text.nav.settings}
      </Title>
      <Tabs
        value={String(search['tab'] ?? 'auth')}
        onChange={(tab) => void navigate({ to: '.', search: { tab } as never, replace: true })}
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
            <Section name={name} schema={schema} stored={(data as Record<string, unknown>)[name]} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  );
};

const Section = ({ name, schema, stored }: { name: string; schema: Schema; stored: unknown }) => {
  const [value, setValue] = useState<Value>({ [name]: stored });
  const [issues, setIssues] = useState<Record<string, string>>({});
  const toasts = useToasts();
  const queries = useQueryClient();
  const may = useMay();
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setIssues({});
    try {
      await client.settings.update({ body: value as never });
      toasts.done(text.table.saved);
      await queries.invalidateQueries({ queryKey: ['settings'] });
    } catch (error) {
      const found = error instanceof RequestFailed ? error.data.issues : undefined;
      if (found === undefined) toasts.problem(error);
      else setIssues(Object.fromEntries(found.map(({ path, message }) => [path, message])));
    }
  };
  const shown: ObjectSchema = { properties: { [name]: schema }, required: [name] };
  return (
    <form onSubmit={(event) => void save(event)}>
      <Stack>
        <SchemaFields schema={shown} value={value} onChange={setValue} issues={issues} path="" />
        {may('settings', 'update') ? (
          <Group justify="flex-end">
            <Button type="submit">{text.table.save}</Button>
          </Group>
        ) : (
          <Text c="dimmed">{text.settings.readOnly}</Text>
        )}
      </Stack>
    </form>
  );
};
