import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { text } from '../lib/text.ts';

const { unsaved: words } = text;

/** Asks before a page with unsaved input is left. */
export const UnsavedGuard = ({ isUnsaved }: { isUnsaved: boolean }) => {
  const { proceed, reset, status } = useBlocker({
    // Changes of the search parameters stay on the page.
    shouldBlockFn: ({ current, next }) => isUnsaved && current.pathname !== next.pathname,
    enableBeforeUnload: () => isUnsaved,
    withResolver: true,
  });
  return (
    <Modal opened={status === 'blocked'} onClose={() => reset?.()} title={words.title}>
      <Stack>
        <Text size="sm">{words.text}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => reset?.()} data-autofocus>
            {words.stay}
          </Button>
          <Button color="red" onClick={() => proceed?.()}>
            {words.leave}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
};
