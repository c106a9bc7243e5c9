import { Loader, Modal } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { lazy, Suspense } from 'react';
import { text } from '../lib/text.ts';

// Most visits never open it, and it needs the schemas of all collections.
const Destinations = lazy(async () => ({ default: (await import('./destinations.tsx')).Destinations }));

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
      {isOpen && (
        <Suspense fallback={<Loader size="sm" />}>
          <Destinations onClose={onClose} />
        </Suspense>
      )}
    </Modal>
  );
};

const focusSearch = () => {
  const field = document.querySelector<HTMLInputElement>('input[data-search]');
  field?.focus();
  return field !== null;
};
