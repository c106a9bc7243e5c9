import { Button, Group, Modal, Pagination, Select, Stack, Text, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { SessionTable } from '../../components/capture/session-table.tsx';
import { Problem } from '../../components/problem.tsx';
import type { CreateFormProps } from '../../components/resource/resource.ts';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';

const { applications: words } = text;
const sessionsOnPage = 20;

const useCaptures = () =>
  useQuery({
    queryKey: ['files', 'captures'],
    queryFn: async () => {
      const query = { category: ['pcap', 'capture'] as ('pcap' | 'capture')[], count: 100, key: 'createdAt' as const };
      return (await client.files.list({ query })).data;
    },
  });

/** From a capture to an application: which capture, which of its sessions. */
export const NewApplicationDialog = ({ onClose, onSaved }: CreateFormProps) => {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const { data: captures } = useCaptures();
  const [fileId, setFileId] = useState<number | undefined>(search['capture'] ? Number(search['capture']) : undefined);
  const [name, setName] = useState<string>();
  const [chosen, setChosen] = useState<readonly number[]>();
  const { problem, isBusy, create } = useCreate({ onClose, onSaved });
  const file = captures?.find(({ id }) => id === fileId);
  const called = name ?? file?.name.replace(/\.\w+$/, '') ?? '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (fileId !== undefined) void create({ name: called, pcapFileId: fileId, sessions: chosen });
  };
  return (
    <Modal opened onClose={onClose} title={words.new} size="min(900px, 100%)" closeOnClickOutside={false}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Select
            label={words.capture}
            required
            searchable
            data={(captures ?? []).map((one) => ({ value: String(one.id), label: one.name }))}
            value={fileId === undefined ? null : String(fileId)}
            onChange={(next) => {
              setFileId(next === null ? undefined : Number(next));
              setChosen(undefined);
            }}
            {...(captures?.length === 0 && { description: words.noCapture })}
          />
          <TextInput
            label={words.name}
            required
            value={called}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {fileId !== undefined && <Sessions fileId={fileId} chosen={chosen} onChoose={setChosen} />}
          {problem !== undefined && <Problem error={problem} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {text.table.cancel}
            </Button>
            <Button type="submit" loading={isBusy} disabled={fileId === undefined || chosen?.length === 0}>
              {words.create}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
};

interface Wish {
  name: string;
  pcapFileId: number;
  /** All that can be replayed unless said. */
  sessions: readonly number[] | undefined;
}

const useCreate = ({ onSaved }: CreateFormProps) => {
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const toasts = useToasts();
  const navigate = useNavigate();
  const create = async ({ sessions, ...wish }: Wish) => {
    setBusy(true);
    setProblem(undefined);
    try {
      const body = { ...wish, ...(sessions && { sessions: sessions.map((sessionIndex) => ({ sessionIndex })) }) };
      const { data: id } = await client.applications.create({ body });
      toasts.done(text.table.created);
      onSaved();
      await navigate({ to: '/resources/$name/$id', params: { name: 'applications', id: String(id) } });
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return { problem, isBusy, create };
};

interface SessionsProps {
  fileId: number;
  chosen: readonly number[] | undefined;
  onChoose: (chosen: readonly number[]) => void;
}

const Sessions = ({ fileId, chosen, onChoose }: SessionsProps) => {
  const [page, setPage] = useState(1);
  const { data, error } = useQuery({
    queryKey: ['files', 'pcap', fileId, page, undefined],
    queryFn: async () =>
      (await client.files.pcap({ params: { id: fileId }, query: { page, count: sessionsOnPage } })).data,
    placeholderData: keepPreviousData,
  });
  const isWhole = data !== undefined && data.sessionCount <= sessionsOnPage;
  useEffect(() => {
    // Large captures play all they can unless somebody chooses; small ones show what that means.
    if (data && isWhole && chosen === undefined)
      onChoose(data.sessions.filter(({ replayable }) => replayable).map(({ sessionIndex }) => sessionIndex));
  }, [data, isWhole, chosen, onChoose]);
  if (error) return <Problem error={error} />;
  if (data === undefined) return null;
  return (
    <div>
      <Group justify="space-between">
        <Text size="sm" fw={500}>
          {words.sessions}
        </Text>
        {chosen && <Text size="sm">{words.selected(chosen.length)}</Text>}
      </Group>
      <SessionTable sessions={data.sessions} chosen={chosen ?? []} onChoose={onChoose} />
      {!isWhole && (
        <Pagination
          total={Math.ceil(data.sessionCount / sessionsOnPage)}
          value={page}
          onChange={setPage}
          getControlProps={(control) => ({ 'aria-label': control })}
        />
      )}
    </div>
  );
};
