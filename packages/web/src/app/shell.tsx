import {
  ActionIcon,
  AppShell,
  Burger,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconActivity, IconMoon, IconSearch, IconSun, IconUserCircle } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { SignInDialog } from '../features/auth/sign-in-dialog.tsx';
import { client } from '../lib/client.ts';
import { useMay, useSession } from '../lib/session.ts';
import { text } from '../lib/text.ts';
import { ConnectionBanner } from './connection-banner.tsx';
import { navigation } from './navigation.ts';
import { Palette } from './palette.tsx';

/** The frame of every page: header, menu, command palette and the sign-in dialog. */
export const Shell = () => {
  const [isOpen, menu] = useDisclosure(false);
  const [isSearching, palette] = useDisclosure(false);
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <a className="skip" href="#content">
        {text.app.skip}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger opened={isOpen} onClick={menu.toggle} hiddenFrom="sm" size="sm" aria-label={text.app.menu} />
            <Link to="/" className="plain">
              <Group gap={6} wrap="nowrap">
                <IconActivity size={22} color="var(--mantine-color-orange-6)" aria-hidden />
                <Text fw={700}>{text.app.name}</Text>
              </Group>
            </Link>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <ActionIcon variant="subtle" color="gray" aria-label={text.app.search} onClick={palette.open}>
              <IconSearch size={18} />
            </ActionIcon>
            <ThemeButton />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" component="nav" aria-label={text.app.menu}>
        <ScrollArea>
          <Navigation onNavigate={menu.close} />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="content">
        <ConnectionBanner />
        <Outlet />
      </AppShell.Main>
      <Palette isOpen={isSearching} onOpen={palette.open} onClose={palette.close} />
      <SignInDialog />
    </AppShell>
  );
};

const Navigation = ({ onNavigate }: { onNavigate: () => void }) => {
  const may = useMay();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return navigation.map(({ title, items }) => (
    <section key={title}>
      <Text size="xs" c="dimmed" fw={600} px="sm" pt="sm" pb={4}>
        {title}
      </Text>
      {items
        .filter(({ needs }) => needs === undefined || may(...needs))
        .map(({ label, to, icon: Icon }) => (
          <NavLink
            key={to}
            label={label}
            leftSection={<Icon size={18} stroke={1.6} />}
            active={to === '/' ? path === '/' : path.startsWith(to)}
            variant="light"
            renderRoot={(props) => <Link {...props} to={to} onClick={onNavigate} />}
          />
        ))}
    </section>
  ));
};

const ThemeButton = () => {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const next = colorScheme === 'dark' ? 'light' : 'dark';
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={text.app.theme} onClick={() => setColorScheme(next)}>
      {colorScheme === 'dark' ? <IconSun size={18} /> : <IconMoon size={18} />}
    </ActionIcon>
  );
};

const AccountMenu = () => {
  const { data: user } = useSession();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const signOut = async () => {
    await client.auth.logout().catch(() => {});
    queries.clear();
    await navigate({ to: '/sign-in' });
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={user?.realName ?? ''}>
          <IconUserCircle size={20} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{user?.email}</Menu.Label>
        <Menu.Item renderRoot={(props) => <Link {...props} to="/profile" />}>{text.profile.title}</Menu.Item>
        <Menu.Item onClick={() => void signOut()}>{text.app.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};
