import { Button, Group, SegmentedControl, SimpleGrid, Stack, TextInput, useMantineColorScheme } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { FactTable } from '../../components/data-table.tsx';
import { PageHeading, Section } from '../../components/page.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { sessionKey, useSession } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { absoluteTime } from '../../lib/times.ts';
import { AccessTokens } from './access-tokens.tsx';
import { PasswordForm } from './password-form.tsx';
import { Sessions } from './sessions.tsx';

const { profile: words } = text;
type User = NonNullable<ReturnType<typeof useSession>['data']>;

/** The signed-in user: name, password, access tokens, sessions and theme. */
export const ProfilePage = () => {
  const { data: user } = useSession();
  const toasts = useToasts();
  if (user === undefined) return null;
  return (
    <Stack maw={900}>
      <PageHeading title={words.title} />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Section title={words.account}>
          <Account user={user} />
        </Section>
        <Section title={text.auth.password}>
          <PasswordForm
            currentLabel={words.currentPassword}
            submitLabel={words.changePassword}
            onDone={() => toasts.done(words.passwordChanged)}
          />
        </Section>
        <Section title={text.tokens.title}>
          <AccessTokens />
        </Section>
        <Section title={words.theme}>
          <ThemeChoice />
        </Section>
        <Section title={words.sessions}>
          <Stack>
            <Sessions sessions={user.sessions} />
            <SignOutEverywhere />
          </Stack>
        </Section>
      </SimpleGrid>
    </Stack>
  );
};

const Account = ({ user }: { user: User }) => {
  const queries = useQueryClient();
  const toasts = useToasts();
  const rename = useMutation({
    mutationFn: (realName: string) => client.users.updateMe({ body: { realName } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: sessionKey });
      toasts.done(text.table.saved);
    },
    onError: (error) => toasts.problem(error),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        rename.mutate(String(new FormData(event.currentTarget).get('realName')));
      }}
    >
      <Stack>
        <TextInput name="realName" label={words.name} defaultValue={user.realName} maxLength={128} required />
        <FactTable
          facts={[
            [text.auth.email, user.email],
            [words.group, user.group.name],
            [words.lastSignIn, user.lastLogin === null ? '' : absoluteTime(user.lastLogin)],
          ]}
        />
        <Button type="submit" variant="default" loading={rename.isPending}>
          {words.rename}
        </Button>
      </Stack>
    </form>
  );
};

const ThemeChoice = () => {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      fullWidth
      aria-label={words.theme}
      data={words.themes}
      value={colorScheme}
      onChange={(next) => setColorScheme(next as 'auto' | 'light' | 'dark')}
    />
  );
};

const SignOutEverywhere = () => {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const toasts = useToasts();
  const signOut = useMutation({
    mutationFn: () => client.auth.logout({ body: { everywhere: true } }),
    onSuccess: async () => {
      queries.clear();
      await navigate({ to: '/sign-in' });
    },
    onError: (error) => toasts.problem(error),
  });
  return (
    <Group>
      <Button variant="default" loading={signOut.isPending} onClick={() => signOut.mutate()}>
        {words.signOutEverywhere}
      </Button>
    </Group>
  );
};
