import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch, IconX } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { text } from '../../lib/text.ts';
import { IconButton } from '../buttons.tsx';

const typingMs = 250;

/** The search of a list. The key `/` focuses the element marked with `data-search`. */
export const SearchField = ({ value, onChange }: { value: string; onChange: (value: string) => void }) => {
  const [typed, setTyped] = useState(value);
  const change = useDebouncedCallback(onChange, typingMs);
  // The URL can change without typing: back, forward, "Clear filters".
  useEffect(() => setTyped(value), [value]);
  const set = (next: string) => {
    setTyped(next);
    change(next);
  };
  return (
    <TextInput
      data-search
      aria-label={text.table.search}
      placeholder={`${text.table.search}  /`}
      leftSection={<IconSearch size={16} />}
      rightSection={typed !== '' && <IconButton label={text.table.clear} icon={IconX} onClick={() => set('')} />}
      value={typed}
      onChange={(event) => set(event.currentTarget.value)}
      w={{ base: '100%', xs: 260 }}
    />
  );
};
