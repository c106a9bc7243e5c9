import { Group, Text, TextInput } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { SessionTable } from '../../components/capture/session-table.tsx';
import { FormDialog } from '../../components/dialogs.tsx';
import { Pages } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { type CreateFormProps, loadItem, nameOf } from '../../components/resource/resource.ts';
import { RecordSelect } from '../../components/schema-form/record-select.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';

const { applications: words } = text;
const rowsPerPage = 20;

const captures = { category: ['pcap', 'capture'] };

/** The chosen capture, for the name of the application. */
const useCapture = (id: number | undefined) =>
  useQuery({
    queryKey: ['files', 'choice', id],
    queryFn: () => loadItem('files', id ?? 0),
    enabled: id !== undefined,
  }).data;

/** Creates an application from sessions of a capture. */
export const NewApplicationDialog = ({ onClose, onSaved }: CreateFormProps) => {
  const [fileId, setFileId] = useState(usePageSearch().number('capture'));
  const [typed, setTyped] = useState<string>();
  const [sessions, setSessions] = useState<readonly number[]>();
  const file = useCapture(fileId);
  const name = typed ?? (file === undefined ? '' : nameOf(file).replace(/\.\w+$/, ''));
  const create = useCreate(onSaved);
  return (
    <FormDialog
      title={words.new}
      size="min(900px, 100%)"
      onClose={onClose}
      onSubmit={() => fileId !== undefined && create.mutate({ name, pcapFileId: fileId, sessions })}
      error={create.error}
      isBusy={create.isPending}
      isDisabled={fileId === undefined || sessions?.length === 0}
      label={words.create}
    >
      <RecordSelect
        name="files"
        label={words.capture}
        description={words.noCapture}
        required
        listFilter={captures}
        value={fileId}
        onChange={(next) => {
          setFileId(next);
          setSessions(undefined);
        }}
      />
      <TextInput label={words.name} required value={name} onChange={(event) => setTyped(event.currentTarget.value)} />
      {fileId !== undefined && <Sessions fileId={fileId} selected={sessions} onSelect={setSessions} />}
    </FormDialog>
  );
};

interface Draft {
  name: string;
  pcapFileId: number;
  /** All replayable sessions when left out. */
  sessions: readonly number[] | undefined;
}

const useCreate = (onSaved: () => void) => {
  const toasts = useToasts();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async ({ sessions, ...draft }: Draft) => {
      const body = { ...draft, ...(sessions && { sessions: sessions.map((sessionIndex) => ({ sessionIndex })) }) };
      return (await client.applications.create({ body })).data;
    },
    onSuccess: (id) => {
      toasts.done(text.table.created);
      onSaved();
      return navigate({ to: '/resources/$name/$id', params: { name: 'applications', id: String(id) } });
    },
  });
};

interface SessionsProps {
  fileId: number;
  selected: readonly number[] | undefined;
  onSelect: (selected: readonly number[]) => void;
}

const Sessions = ({ fileId, selected, onSelect }: SessionsProps) => {
  const [page, setPage] = useState(1);
  const { data, error } = useQuery({
    queryKey: ['files', 'pcap', fileId, page, undefined],
    queryFn: async () =>
      (await client.files.pcap({ params: { id: fileId }, query: { page, count: rowsPerPage } })).data,
    placeholderData: keepPreviousData,
  });
  const isWhole = data !== undefined && data.sessionCount <= rowsPerPage;
  useEffect(() => {
    // A capture that fits on one page shows its default selection; a larger one replays all it can unless changed.
    if (data && isWhole && selected === undefined)
      onSelect(data.sessions.filter(({ replayable }) => replayable).map(({ sessionIndex }) => sessionIndex));
  }, [data, isWhole, selected, onSelect]);
  if (error) return <Problem error={error} />;
  if (data === undefined) return null;
  return (
    <div>
      <Group justify="space-between">
        <Text size="sm" fw={500}>
          {words.sessions}
        </Text>
        {selected && <Text size="sm">{words.selected(selected.length)}</Text>}
      </Group>
      <SessionTable sessions={data.sessions} selected={selected ?? []} onSelect={onSelect} />
      <Pages total={data.sessionCount / rowsPerPage} page={page} onPage={setPage} />
    </div>
  );
};
