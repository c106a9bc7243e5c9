import { Group, Paper, Progress, Text } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay, IconX } from '@tabler/icons-react';
import { IconButton } from '../../components/buttons.tsx';
import { explain } from '../../lib/explain.ts';
import { text } from '../../lib/text.ts';
import { bytes } from '../../lib/units.ts';
import { dropUpload, pauseUpload, resumeUpload, type Upload } from './uploads.ts';

const { files: words } = text;
const colors = { waiting: 'gray', sending: 'indigo', paused: 'yellow', done: 'teal', failed: 'red' } as const;

/** The progress of one upload, with buttons to pause, resume and dismiss it. */
export const UploadRow = ({ upload }: { upload: Upload }) => {
  const { key, file, state, sent, problem } = upload;
  const isActive = state === 'waiting' || state === 'sending';
  const canResume = state === 'paused' || state === 'failed';
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
          {isActive && (
            <IconButton label={words.pause(file.name)} icon={IconPlayerPause} onClick={() => pauseUpload(key)} />
          )}
          {canResume && (
            <IconButton
              label={words.resume(file.name)}
              icon={IconPlayerPlay}
              color="indigo"
              onClick={() => resumeUpload(key)}
            />
          )}
          {!isActive && <IconButton label={words.dismiss(file.name)} icon={IconX} onClick={() => dropUpload(key)} />}
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
