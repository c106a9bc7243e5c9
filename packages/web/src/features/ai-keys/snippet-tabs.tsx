import { Code, Group, Stack, Tabs, Text } from '@mantine/core';
import { CopyTextButton } from '../../components/buttons.tsx';
import { snippetsFor } from './snippets.ts';

/** How each client is connected, with the key if it is known. */
export const SnippetTabs = ({ secret = 'rh_ai_…' }: { secret?: string }) => {
  const snippets = snippetsFor(location.origin, secret);
  return (
    // Values become ids, which must not contain spaces as the names of clients do.
    <Tabs defaultValue="0" keepMounted={false}>
      <Tabs.List>
        {snippets.map(({ client }, i) => (
          <Tabs.Tab key={client} value={String(i)}>
            {client}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {snippets.map(({ client, where, code }, i) => (
        <Tabs.Panel key={client} value={String(i)} pt="sm">
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
