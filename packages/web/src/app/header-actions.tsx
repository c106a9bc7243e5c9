import { ActionIcon, Indicator, Menu, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { IconBell, IconListCheck, IconMoon, IconSun, IconUserCircle, type TablerIcon } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { client } from '../lib/client.ts';
import { useMay, useSession } from '../lib/session.ts';
import { text } from '../lib/text.ts';

const pollMs = 15_000;

/** Signs out and opens the sign-in page. */
export const useSignOut = () => {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return async () => {
    await client.auth.logout().catch(() => {});
    queries.clear();
    await navigate({ to: '/sign-in' });
  };
};

/** Switches between light and dark, starting from what is shown. */
export const useThemeSwitch = () => {
  const { setColorScheme } = useMantineColorScheme();
  const shown = useComputedColorScheme('light');
  return { shown, toggle: () => setColorScheme(shown === 'dark' ? 'light' : 'dark') };
};

interface BadgeLinkProps {
  to: string;
  label: string;
  count: number;
  icon: TablerIcon;
}

const maxShown = 99;

/** A link with the number of things that wait there. */
const BadgeLink = ({ to, label, count, icon: Icon }: BadgeLinkProps) => (
  <Indicator
    disabled={count === 0}
    label={count > maxShown ? `${maxShown}+` : count}
    size={16}
    offset={4}
    color="red"
    inline
  >
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={text.app.waiting(label, count)}
      renderRoot={(props) => <Link {...props} to={to} />}
    >
      <Icon size={18} />
    </ActionIcon>
  </Indicator>
);

export const NotificationBell = () => {
  const { data: unread = 0 } = useQuery({
    queryKey: ['notifications', 'unread'],
    queryFn: async () => (await client.users.me()).data.unreadNotifications,
    refetchInterval: pollMs,
  });
  return <BadgeLink to="/notifications" label={text.nav.notifications} count={unread} icon={IconBell} />;
};

/** Shown while requests of AI keys wait for a decision. */
export const PendingApprovals = () => {
  const mayDecide = useMay()('aiAdmin', 'decide');
  const { data: pending = 0 } = useQuery({
    queryKey: ['aiAdmin', 'approvals', 'pending count'],
    queryFn: async () =>
      (await client.aiAdmin.activity({ query: { kind: 'approval', state: 'pending', count: 1 } })).cursor.totalRows,
    enabled: mayDecide,
    refetchInterval: pollMs,
  });
  return pending > 0 && <BadgeLink to="/approvals" label={text.nav.approvals} count={pending} icon={IconListCheck} />;
};

export const ThemeButton = () => {
  const { shown, toggle } = useThemeSwitch();
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={text.app.theme} onClick={toggle}>
      {shown === 'dark' ? <IconSun size={18} /> : <IconMoon size={18} />}
    </ActionIcon>
  );
};

export const AccountMenu = () => {
  const { data: user } = useSession();
  const signOut = useSignOut();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={text.app.account(user?.realName ?? '')}>
          <IconUserCircle size={20} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{user?.email}</Menu.Label>
        <Menu.Item renderRoot={(props) => <Link {...props} to="/profile" />}>{text.profile.title}</Menu.Item>
        <Menu.Item component="a" href="/guide" target="_blank" rel="noreferrer">
          {text.app.guide}
        </Menu.Item>
        <Menu.Item component="a" href="/docs" target="_blank" rel="noreferrer">
          {text.app.apiDocs}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => void signOut()}>{text.app.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};
