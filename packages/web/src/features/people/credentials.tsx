import { Alert, Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core';
import { text } from '../../lib/text.ts';

const { people: words } = text;

/** A temporary password, shown once, to be handed over. */
export const Credentials = ({ email, password }: { email: string; password: string }) => (
  <Stack>
    <Alert color="yellow">{words.onlyNow}</Alert>
    <div>
      <Text size="sm">{text.auth.email}</Text>
      <Code block>{email}</Code>
    </div>
    <div>
      <Text size="sm">{text.auth.current}</Text>
      <Code block>{password}</Code>
    </div>
    <Group justify="flex-end">
      <CopyButton value={password}>
        {({ copied, copy }) => <Button onClick={copy}>{copied ? text.agents.copied : words.copyPassword}</Button>}
      </CopyButton>
    </Group>
  </Stack>
);
