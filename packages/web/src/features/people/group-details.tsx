import { Anchor, List, Stack, Text } from '@mantine/core';
import type { Group } from '@rushhour/contract';
import { Link } from '@tanstack/react-router';
import { Section } from '../../components/page.tsx';
import { text } from '../../lib/text.ts';
import { PermissionMatrix } from './permission-matrix.tsx';

const { people: words } = text;

/** The permissions and users of a group. */
export const GroupDetails = ({ group }: { group: Group }) => (
  <Stack>
    <Section title={words.matrix}>
      <PermissionMatrix value={group.permissions} />
    </Section>
    <Section title={text.nav.users}>
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
    </Section>
  </Stack>
);
