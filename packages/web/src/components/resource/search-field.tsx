import { ActionIcon, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch, IconX } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { text } from '../../lib/text.ts';

const pauseMs = 250;

/** Finds in a list. `data-search` lets `/` come here from anywhere on the page. */
export const SearchField = ({ value, onChange }: { value: string; onChange: (value: string) => void }) => {
  const [typed, setTyped] = useState(value);
  const report = useDebouncedCallback(onChange, pauseMs);
  // The address may change by itself: back, forward, a link to the whole list.
  useEffect(() => setTyped(value), [value]);
  const set = (next: string) => {
    setTyped(next);
    report(next);
  };
  return (
    <TextInput
      data-search
      aria-label={text.table.search}
      placeholder={`${text.table.search}  /`}
      leftSection={<IconSearch size={16} />}
      rightSection={
        typed !== '' && (
          <ActionIcon variant="subtle" color="gray" aria-label={text.table.clear} onClick={() => set('')}>
            <IconX size={14} />
          </ActionIcon>
        )
      }
      value={typed}
      onChange={(event) => set(event.currentTarget.value)}
      w={{ base: '100%', xs: 260 }}
    />
  );
};
