import { Button, Code, CopyButton, Group, Modal, Stack, Text } from '@mantine/core';
import { text } from '../../lib/text.ts';

const { aiKeys: words } = text;

/** The whole key, once: closing it is a deed of its own, not a slip beside the window. */
export const SecretDialog = ({ secret, onClose }: { secret: string; onClose: () => void }) => (
  <Modal
    opened
    onClose={onClose}
    title={words.secretTitle}
    closeOnClickOutside={false}
    closeOnEscape={false}
    withCloseButton={false}
    size="lg"
  >
    <Stack>
      <Text size="sm">{words.secretText}</Text>
      <Code block tabIndex={0} style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
        {secret}
      </Code>
      <Group justify="flex-end">
        <CopyButton value={secret}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy}>
              {copied ? words.copied : words.copy}
            </Button>
          )}
        </CopyButton>
        <Button onClick={onClose}>{words.done}</Button>
      </Group>
    </Stack>
  </Modal>
);
