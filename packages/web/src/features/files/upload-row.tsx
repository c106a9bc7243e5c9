import { ActionIcon, Group, Paper, Progress, Text } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay, IconX } from '@tabler/icons-react';
import { explain } from '../../lib/explain.ts';
import { text } from '../../lib/text.ts';
import { bytes } from '../../lib/units.ts';
import { dropUpload, pauseUpload, resumeUpload, type Upload } from './uploads.ts';

const { files: words } = text;
const colors = { waiting: 'gray', sending: 'indigo', paused: 'yellow', done: 'teal', failed: 'red' } as const;

/** One upload: how far it is, and what can be done about it. */
export const UploadRow = ({ upload }: { upload: Upload }) => {
  const { key, file, state, sent, problem } = upload;
  const isMoving = state === 'waiting' || state === 'sending';
  const canGoOn = state === 'paused' || state === 'failed';
  return (
    <Paper withBorder p="xs">
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" truncate>
          {file.name}
        </Text>
        <Group gap={4} wrap="nowrap">
          <Text size="xs" c="dimmed" className="numbers" role="status">
            {state === 'sending' ? words.sending(bytes(sent), bytes(file.size)) : words[state]}
          </Text>
          {isMoving && (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={words.pause(file.name)}
              onClick={() => pauseUpload(key)}
            >
              <IconPlayerPause size={16} />
            </ActionIcon>
          )}
          {canGoOn && (
            <ActionIcon variant="subtle" aria-label={words.resume(file.name)} onClick={() => resumeUpload(key)}>
              <IconPlayerPlay size={16} />
            </ActionIcon>
          )}
          {!isMoving && (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={words.dismiss(file.name)}
              onClick={() => dropUpload(key)}
            >
              <IconX size={16} />
            </ActionIcon>
          )}
        </Group>
      </Group>
      <Progress
        value={state === 'done' ? 100 : file.size === 0 ? 0 : (sent / file.size) * 100}
        color={colors[state]}
        size="sm"
        mt={4}
        aria-label={words.progress(file.name)}
      />
      {problem !== undefined && (
        <Text size="xs" c="red" role="alert" mt={4} style={{ whiteSpace: 'pre-line' }}>
          {explain(problem)}
        </Text>
      )}
    </Paper>
  );
};
