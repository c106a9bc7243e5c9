import { Anchor, Card, List, Stack, Text, Title } from '@mantine/core';
import type { Group } from '@rushhour/contract';
import { Link } from '@tanstack/react-router';
import { text } from '../../lib/text.ts';
import { PermissionMatrix } from './permission-matrix.tsx';

const { people: words } = text;

/** What the members of a group may do, and who they are. */
export const GroupDetails = ({ group }: { group: Group }) => (
  <Stack>
    <Card withBorder>
      <Title order={2} size="h5" mb="xs">
        {words.matrix}
      </Title>
      <PermissionMatrix value={group.permissions} />
    </Card>
    <Card withBorder>
      <Title order={2} size="h5" mb="xs">
        {text.nav.users}
      </Title>
      {group.users.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.noMembers}
        </Text>
      ) : (
        <List size="sm">
          {group.users.map(({ id, email, realName }) => (
            <List.Item key={id}>
              <Anchor renderRoot={(props) => <Link {...props} to={`/resources/users/${id}`} />}>
                {realName} ({email})
              </Anchor>
            </List.Item>
          ))}
        </List>
      )}
    </Card>
  </Stack>
);
