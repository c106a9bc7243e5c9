import { Modal, NavLink, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue, useHotkeys } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
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
import { navigation } from './navigation.ts';

interface Destination {
  readonly label: string;
  readonly to: string;
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

interface PaletteProps {
  isOpen: boolean;
  onOpen: () => void;
  onClose: () => void;
}

/** The command palette: Ctrl K or ⌘ K opens it. `/` focuses the search of the page, or opens it if there is none. */
export const Palette = ({ isOpen, onOpen, onClose }: PaletteProps) => {
  useHotkeys([['mod+K', onOpen]], []);
  useHotkeys([['/', () => focusSearch() || onOpen()]]);
  return (
    <Modal opened={isOpen} onClose={onClose} title={text.app.search} yOffset="10vh">
      {isOpen && <Destinations onClose={onClose} />}
    </Modal>
  );
};

const focusSearch = () => {
  const field = document.querySelector<HTMLInputElement>('input[data-search]');
  field?.focus();
  return field !== null;
};

const usePages = (typed: string): Destination[] => {
  const may = useMay();
  const pages = navigation
    .flatMap(({ items }) => items)
    .filter(({ needs }) => needs === undefined || may(...needs))
    .map(({ label, to, icon }) => ({ label, to, icon }));
  const newTest = may('tasks', 'create') ? [{ label: text.nav.newTest, to: '/new' }] : [];
  return [...newTest, ...pages].filter(({ label }) => label.toLowerCase().includes(typed.toLowerCase()));
};

const Destinations = ({ onClose }: { onClose: () => void }) => {
  const [typed, setTyped] = useState('');
  const [index, setIndex] = useState(0);
  const [searched] = useDebouncedValue(typed.trim(), typingMs);
  const navigate = useNavigate();
  const records = useRecords(searched);
  const destinations = [...usePages(typed), ...records];
  const go = (to: string) => {
    onClose();
    void navigate({ to });
  };
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const current = destinations[index];
    if (step !== 0) {
      event.preventDefault();
      setIndex((destinations.length + index + step) % Math.max(destinations.length, 1));
    } else if (event.key === 'Enter' && current !== undefined) go(current.to);
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
      <div>
        {destinations.map(({ label, to, icon: Icon, kind }, i) => (
          <NavLink
            key={to}
            label={label}
            {...(kind !== undefined && { description: kind })}
            leftSection={Icon ? <Icon size={16} /> : <IconSearch size={16} />}
            active={i === index}
            onClick={() => go(to)}
          />
        ))}
        {destinations.length === 0 && (
          <Text size="sm" c="dimmed" p="xs">
            {text.form.noRecord}
          </Text>
        )}
      </div>
    </Stack>
  );
};
