import { Modal, NavLink, Stack, TextInput } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useState } from 'react';
import { useMay } from '../lib/session.ts';
import { text } from '../lib/text.ts';
import { navigation } from './navigation.ts';

/** Ctrl K or ⌘ K: every page is a few letters away. */
export const Palette = () => {
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const navigate = useNavigate();
  const may = useMay();
  useHotkeys([['mod+K', () => setOpen(true)]], []);
  const places = navigation
    .flatMap(({ items }) => items)
    .filter(({ needs }) => needs === undefined || may(...needs))
    .filter(({ label }) => label.toLowerCase().includes(typed.toLowerCase()));
  const close = () => {
    setOpen(false);
    setTyped('');
    setAt(0);
  };
  const go = (to: string) => {
    close();
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
    <Modal opened={isOpen} onClose={close} title={text.app.search} yOffset="10vh">
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
          {places.map(({ label, to, icon: Icon }, i) => (
            <NavLink key={to} label={label} leftSection={<Icon size={16} />} active={i === at} onClick={() => go(to)} />
          ))}
        </div>
      </Stack>
    </Modal>
  );
};
