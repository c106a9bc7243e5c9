import { Alert, Button, FileButton, Group, List, Paper, Progress, Select, Stack, Text } from '@mantine/core';
import { fileCategories } from '@rushhour/contract';
import { IconPlayerPause, IconPlayerPlay, IconUpload, IconX } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { IconButton } from '../../components/buttons.tsx';
import { Explanation } from '../../components/explanation.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { bytes } from '../../lib/units.ts';
import { choiceLabelOf } from '../../texts/choices.ts';
import { type Category, forgetId, rememberedUploads } from './remembered-uploads.ts';
import { addUploads, dropUpload, pauseUpload, resumeUpload, type Upload, useUploads } from './uploads.ts';

const { files: words } = text;
const categories = fileCategories
  .filter((name) => name !== 'malware')
  .map((value) => ({ value, label: choiceLabelOf(value, 'category') }));
const colors = { waiting: 'gray', sending: 'indigo', paused: 'yellow', done: 'teal', failed: 'red' } as const;

/** The progress of one upload, with buttons to pause, resume and dismiss it. */
const UploadRow = ({ upload }: { upload: Upload }) => {
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
          <Explanation error={problem} />
        </Text>
      )}
    </Paper>
  );
};

const categoriesQuery = {
  queryKey: ['files', 'categories'],
  queryFn: async () => (await client.files.categories()).data,
  staleTime: 600_000,
};

/** The category whose extensions fit the name of a file. */
const categoryOf = (
  name: string,
  known: readonly { category: Category; extensions: readonly string[] }[],
): Category => {
  const lower = name.toLowerCase();
  const fits = known.find(
    ({ category, extensions }) =>
      category !== 'malware' && extensions.some((extension) => lower.endsWith(`.${extension.replace(/^\./, '')}`)),
  );
  return fits?.category ?? 'other';
};

/** Uploads dropped or chosen files, and lists running and interrupted uploads. */
export const UploadPanel = () => {
  const may = useMay();
  const uploads = useUploads();
  const queries = useQueryClient();
  const [category, setCategory] = useState<string | null>(null);
  const { data: known = [] } = useQuery(categoriesQuery);
  const stored = uploads.filter(({ state }) => state === 'done').length;
  useEffect(() => {
    if (stored > 0) void queries.invalidateQueries({ queryKey: ['files'] });
  }, [stored, queries]);
  if (!may('files', 'create')) return null;
  const add = (files: readonly File[]) =>
    addUploads(files.map((file) => ({ file, category: (category as Category) ?? categoryOf(file.name, known) })));
  return (
    <Stack gap="xs">
      <DropZone onDrop={add}>
        <IconUpload size={20} aria-hidden />
        <Text size="sm">{words.drop}</Text>
        <FileButton multiple onChange={add}>
          {(props) => <Button {...props}>{words.choose}</Button>}
        </FileButton>
        <Select
          aria-label={words.category}
          placeholder={words.byName}
          data={categories}
          value={category}
          onChange={setCategory}
          clearable
        />
      </DropZone>
      {uploads.map((upload) => (
        <UploadRow key={upload.key} upload={upload} />
      ))}
      <Unfinished busy={uploads.map(({ file }) => file.name)} />
    </Stack>
  );
};

const DropZone = ({ onDrop, children }: { onDrop: (files: readonly File[]) => void; children: ReactNode }) => {
  const [isOver, setOver] = useState(false);
  return (
    <Paper
      withBorder
      p="md"
      data-drop
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onDrop([...event.dataTransfer.files]);
      }}
      style={{ borderStyle: 'dashed', ...(isOver && { borderColor: 'var(--mantine-color-indigo-5)' }) }}
    >
      <Group justify="center">{children}</Group>
    </Paper>
  );
};

const Unfinished = ({ busy }: { busy: readonly string[] }) => {
  const [all, setAll] = useState(rememberedUploads);
  const queries = useQueryClient();
  const rest = all.filter(({ name }) => !busy.includes(name));
  if (rest.length === 0) return null;
  const discard = async (id: number) => {
    forgetId(id);
    setAll(rememberedUploads());
    await client.files.removeMany({ body: { array: [id] } }).catch(() => {});
    await queries.invalidateQueries({ queryKey: ['files'] });
  };
  return (
    <Alert color="yellow" title={words.unfinished}>
      <List size="sm">
        {rest.map(({ id, name }) => (
          <List.Item key={id}>
            {name}{' '}
            <Button
              size="compact-xs"
              variant="subtle"
              aria-label={words.discard(name)}
              onClick={() => void discard(id)}
            >
              {text.table.remove}
            </Button>
          </List.Item>
        ))}
      </List>
    </Alert>
  );
};
