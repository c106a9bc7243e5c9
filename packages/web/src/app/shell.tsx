import { ActionIcon, AppShell, Burger, Group, NavLink, ScrollArea, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure, useLocalStorage } from '@mantine/hooks';
import { IconActivity, IconChevronDown, IconChevronRight, IconSearch } from '@tabler/icons-react';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { SignInDialog } from '../features/auth/sign-in-dialog.tsx';
import { useMay } from '../lib/session.ts';
import { text } from '../lib/text.ts';
import { ConnectionBanner } from './connection-banner.tsx';
import { AccountMenu, NotificationBell, PendingApprovals, ThemeButton } from './header-actions.tsx';
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
            <PendingApprovals />
            <NotificationBell />
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
  return navigation.map(({ title, items }) => {
    const shown = items.filter(({ needs }) => needs === undefined || may(...needs));
    return (
      shown.length > 0 && (
        <MenuSection key={title} title={title}>
          {shown.map(({ label, to, icon: Icon }) => (
            <NavLink
              key={to}
              label={label}
              leftSection={<Icon size={16} stroke={1.6} />}
              active={to === '/' ? path === '/' : path.startsWith(to)}
              variant="light"
              className="menu-item"
              renderRoot={(props) => <Link {...props} to={to} onClick={onNavigate} />}
            />
          ))}
        </MenuSection>
      )
    );
  });
};

/** A part of the menu that folds; the browser remembers which parts are folded. */
const MenuSection = ({ title, children }: { title: string; children: ReactNode }) => {
  const [isOpen, setOpen] = useLocalStorage({ key: `menu ${title}`, defaultValue: true });
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <section>
      <UnstyledButton className="menu-title" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {title}
        <Chevron size={12} aria-hidden />
      </UnstyledButton>
      {isOpen && children}
    </section>
  );
};
