import { Modal, NavLink, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue, useHotkeys } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useState } from 'react';
import { useMay } from '../lib/session.ts';
import { text } from '../lib/text.ts';
import { navigation } from './navigation.ts';
import { type Place, useRecords } from './record-search.ts';

const pauseMs = 250;

interface PaletteProps {
  isOpen: boolean;
  onOpen: () => void;
  onClose: () => void;
}

/** Ctrl K or ⌘ K: every page and every record is a few letters away. `/` goes to the search of the page, or here. */
export const Palette = ({ isOpen, onOpen, onClose }: PaletteProps) => {
  useHotkeys([['mod+K', onOpen]], []);
  useHotkeys([['/', () => focusSearch() || onOpen()]]);
  return (
    <Modal opened={isOpen} onClose={onClose} title={text.app.search} yOffset="10vh">
      {isOpen && <Places onClose={onClose} />}
    </Modal>
  );
};

const focusSearch = () => {
  const field = document.querySelector<HTMLInputElement>('input[data-search]');
  field?.focus();
  return field !== null;
};

const usePlaces = (typed: string): Place[] => {
  const may = useMay();
  const pages = navigation
    .flatMap(({ items }) => items)
    .filter(({ needs }) => needs === undefined || may(...needs))
    .map(({ label, to, icon }) => ({ label, to, icon }));
  const begin = may('tasks', 'create') ? [{ label: text.nav.newTest, to: '/new' }] : [];
  return [...begin, ...pages].filter(({ label }) => label.toLowerCase().includes(typed.toLowerCase()));
};

const Places = ({ onClose }: { onClose: () => void }) => {
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const [searched] = useDebouncedValue(typed.trim(), pauseMs);
  const navigate = useNavigate();
  const records = useRecords(searched);
  const places = [...usePlaces(typed), ...records];
  const go = (to: string) => {
    onClose();
    void navigate({ to });
  };
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const chosen = places[at];
    if (step !== 0) {
      event.preventDefault();
      setAt((places.length + at + step) % Math.max(places.length, 1));
    } else if (event.key === 'Enter' && chosen !== undefined) go(chosen.to);
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
          setAt(0);
        }}
        onKeyDown={onKey}
        data-autofocus
      />
      <div>
        {places.map(({ label, to, icon: Icon, kind }, i) => (
          <NavLink
            key={to}
            label={label}
            {...(kind !== undefined && { description: kind })}
            leftSection={Icon ? <Icon size={16} /> : <IconSearch size={16} />}
            active={i === at}
            onClick={() => go(to)}
          />
        ))}
        {places.length === 0 && (
          <Text size="sm" c="dimmed" p="xs">
            {text.form.noRecord}
          </Text>
        )}
      </div>
    </Stack>
  );
};
