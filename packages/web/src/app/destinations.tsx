import { NavLink, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconBook, IconLogout, IconMoon, IconSearch, IconUserCircle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ComponentType, type KeyboardEvent, useState } from 'react';
import {
  canSearch,
  idOf,
  nameOf,
  operationsOf,
  type PageOf,
  pageQuery,
  type ResourceName,
} from '../components/resource/resource.ts';
import { useMay } from '../lib/session.ts';
import { text } from '../lib/text.ts';
import { useSignOut, useThemeSwitch } from './header-actions.tsx';
import { navigation } from './navigation.ts';

interface Destination {
  readonly label: string;
  /** URL; identifies the entry where `run` acts instead. */
  readonly to: string;
  readonly run?: () => unknown;
  readonly icon?: ComponentType<{ size?: number }>;
  /** The collection of a record. */
  readonly kind?: string;
}

const minLetters = 2;
const maxPerCollection = 3;

/** The searchable collections of the menu. */
const collections = navigation
  .flatMap(({ items }) => items)
  .flatMap(({ label, to, icon }) => {
    const name = /^\/resources\/(\w+)$/.exec(to)?.[1] as ResourceName | undefined;
    return name !== undefined && canSearch(name) ? [{ name, kind: label, icon }] : [];
  });

const urlOf = (name: ResourceName, id: number) => (name === 'tasks' ? `/tasks/${id}` : `/resources/${name}/${id}`);

const search = async (name: ResourceName, typed: string) => {
  const query = { ...pageQuery(name, 1, 10), search: typed };
  const page = (await operationsOf(name)['list']?.({ query })) as PageOf;
  return page.data.slice(0, maxPerCollection);
};

/** Records that match the search, a few of each collection. */
const useRecords = (typed: string): Destination[] => {
  const may = useMay();
  const allowed = collections.filter(({ name }) => may(name, 'list'));
  const { data } = useQuery({
    queryKey: ['palette', typed],
    queryFn: async () => {
      const found = await Promise.all(allowed.map(async (one) => ({ ...one, items: await search(one.name, typed) })));
      return found.flatMap(({ name, kind, icon, items }) =>
        items.map((item) => ({ label: nameOf(item), kind, icon, to: urlOf(name, idOf(item)) })),
      );
    },
    enabled: typed.length >= minLetters,
  });
  return typed.length >= minLetters ? (data ?? []) : [];
};

const typingMs = 250;

const usePages = (typed: string): Destination[] => {
  const may = useMay();
  const pages = navigation
    .flatMap(({ items }) => items)
    .filter(({ needs }) => needs === undefined || may(...needs))
    .map(({ label, to, icon }) => ({ label, to, icon }));
  const newTest = may('tasks', 'create') ? [{ label: text.nav.newTest, to: '/new' }] : [];
  return [...newTest, ...pages].filter(({ label }) => label.toLowerCase().includes(typed.toLowerCase()));
};

/** Actions that need no page: what can be created, the theme and the account. */
const useActions = (typed: string): Destination[] => {
  const may = useMay();
  const { toggle } = useThemeSwitch();
  const signOut = useSignOut();
  const creations = collections
    .filter(({ name }) => name !== 'tasks' && may(name, 'create'))
    .map(({ name, icon }) => ({
      label: text.form.new(text.record[name] ?? name),
      to: `/resources/${name}?edit=new`,
      icon,
    }));
  const others: Destination[] = [
    { label: text.profile.title, to: '/profile', icon: IconUserCircle },
    { label: text.app.theme, to: '#theme', icon: IconMoon, run: toggle },
    { label: text.app.guide, to: '#guide', icon: IconBook, run: () => window.open('/guide', '_blank', 'noreferrer') },
    { label: text.app.apiDocs, to: '#docs', icon: IconBook, run: () => window.open('/docs', '_blank', 'noreferrer') },
    { label: text.app.signOut, to: '#sign-out', icon: IconLogout, run: signOut },
  ];
  // Only what is typed for: the list without input shows pages.
  if (typed === '') return [];
  return [...creations, ...others].filter(({ label }) => label.toLowerCase().includes(typed.toLowerCase()));
};

/** The search of the command palette: pages, actions and records. */
export const Destinations = ({ onClose }: { onClose: () => void }) => {
  const [typed, setTyped] = useState('');
  const [index, setIndex] = useState(0);
  const [searched] = useDebouncedValue(typed.trim(), typingMs);
  const navigate = useNavigate();
  const records = useRecords(searched);
  const destinations = [...usePages(typed), ...useActions(typed), ...records];
  const go = ({ to, run }: Destination) => {
    onClose();
    if (run !== undefined) void run();
    else void navigate({ href: to });
  };
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const current = destinations[index];
    if (step !== 0) {
      event.preventDefault();
      setIndex((destinations.length + index + step) % Math.max(destinations.length, 1));
    } else if (event.key === 'Enter' && current !== undefined) go(current);
  };
  return (
    <Stack gap="xs">
      <TextInput
        aria-label={text.app.search}
        placeholder={text.app.search}
        leftSection={<IconSearch size={16} />}
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          setIndex(0);
        }}
        onKeyDown={onKey}
        data-autofocus
      />
      <DestinationList destinations={destinations} index={index} onGo={go} />
    </Stack>
  );
};

interface DestinationListProps {
  destinations: readonly Destination[];
  /** The highlighted one. */
  index: number;
  onGo: (destination: Destination) => void;
}

const DestinationList = ({ destinations, index, onGo }: DestinationListProps) => (
  <div>
    {destinations.map((destination, i) => {
      const { label, to, icon: Icon = IconSearch, kind } = destination;
      return (
        <NavLink
          key={to}
          label={label}
          {...(kind !== undefined && { description: kind })}
          leftSection={<Icon size={16} />}
          active={i === index}
          onClick={() => onGo(destination)}
        />
      );
    })}
    {destinations.length === 0 && (
      <Text size="sm" c="dimmed" p="xs">
        {text.form.noRecord}
      </Text>
    )}
  </div>
);
