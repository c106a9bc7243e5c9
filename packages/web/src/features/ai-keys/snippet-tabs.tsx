import { Code, Group, Stack, Tabs, Text } from '@mantine/core';
import { CopyTextButton } from '../../components/buttons.tsx';
import { snippetsFor } from './snippets.ts';

/** How each client is connected, with the key if it is known. */
export const SnippetTabs = ({ secret = 'rh_ai_…' }: { secret?: string }) => {
  const snippets = snippetsFor(location.origin, secret);
  return (
    <Tabs defaultValue={snippets[0]?.client ?? ''} keepMounted={false}>
      <Tabs.List>
        {snippets.map(({ client }) => (
          <Tabs.Tab key={client} value={client}>
            {client}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {snippets.map(({ client, where, code }) => (
        <Tabs.Panel key={client} value={client} pt="sm">
          <Stack gap="xs">
            <Text size="sm">{where}</Text>
            <Code block tabIndex={0} style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
              {code}
            </Code>
            <Group justify="flex-end">
              <CopyTextButton value={code} />
            </Group>
          </Stack>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
};
