import { Anchor, List, Stack, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { PageHeading, Section } from '../../components/page.tsx';
import { text } from '../../lib/text.ts';
import { SnippetTabs } from './snippet-tabs.tsx';

const { aiKeys: words } = text;

/** How an assistant is connected through MCP, and what it can be asked for. */
export const AssistantsPage = () => (
  <Stack>
    <PageHeading title={words.connect} />
    <Text>{words.connectText}</Text>
    <Section title={words.firstKey}>
      <List type="ordered" size="sm">
        <List.Item>
          <Link to="/ai-keys">{text.nav.aiKeys}</Link>: {words.firstKeyText}
        </List.Item>
        <List.Item>{words.copyText}</List.Item>
      </List>
    </Section>
    <Section title={words.snippets}>
      <SnippetTabs />
    </Section>
    <Section title={words.prompts}>
      <Table>
        <Table.Tbody>
          {Object.entries(words.promptTexts).map(([name, meaning]) => (
            <Table.Tr key={name}>
              <Table.Td>{name}</Table.Td>
              <Table.Td>{meaning}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Section>
    <Text size="sm">
      <Anchor href="/guide/mcp" target="_blank" rel="noreferrer">
        {words.more}
      </Anchor>
    </Text>
  </Stack>
);
