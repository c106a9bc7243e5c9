import { Alert, Code, Group, Stack, Text } from '@mantine/core';
import { CopyTextButton } from '../../components/buttons.tsx';
import { text } from '../../lib/text.ts';

const { people: words } = text;

/** A temporary password, shown once. */
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
      <CopyTextButton value={password} label={words.copyPassword} />
    </Group>
  </Stack>
);
