import { Badge, Button, Code, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import type { AiKey, AiKeyDraft } from '@rushhour/contract';
import { IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { CopyTextButton } from '../../components/buttons.tsx';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { FormDialog } from '../../components/dialogs.tsx';
import { ListPage } from '../../components/page.tsx';
import { SchemaFields, type Value } from '../../components/schema-form/schema-fields.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { issuesIn } from '../../lib/issues.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';
import { KeyActions } from './key-actions.tsx';
import { type KeyState, keySchema, keyStateOf, keyValue } from './key-schema.ts';
import { SnippetTabs } from './snippet-tabs.tsx';

const { aiKeys: words } = text;

interface KeyDialogProps {
  /** The key to change; a new one when left out. */
  aiKey?: AiKey | undefined;
  onClose: () => void;
  onSecret: (secret: string) => void;
}

/** Scopes, policy and limits of a key. The secret of a new key is reported to `onSecret`. */
const KeyDialog = ({ aiKey, onClose, onSecret }: KeyDialogProps) => {
  const [value, setValue] = useState<Value>(() => (aiKey === undefined ? {} : keyValue(aiKey)));
  const queries = useQueryClient();
  const toasts = useToasts();
  const save = useMutation({
    mutationFn: async () => {
      if (aiKey === undefined)
        return (await client.aiAdmin.createKey({ body: value as unknown as AiKeyDraft })).data.secret;
      await client.aiAdmin.updateKey({ body: { ...value, id: aiKey.id, updatedAt: aiKey.updatedAt } as never });
      return undefined;
    },
    onSuccess: async (secret) => {
      await queries.invalidateQueries({ queryKey: ['aiAdmin', 'keys'] });
      onClose();
      if (secret === undefined) toasts.done(text.table.saved);
      else onSecret(secret);
    },
  });
  return (
    <FormDialog
      title={aiKey === undefined ? words.new : words.edit(aiKey.name)}
      onClose={onClose}
      onSubmit={save.mutate}
      error={save.error}
      isBusy={save.isPending}
    >
      <SchemaFields schema={keySchema()} value={value} onChange={setValue} issues={issuesIn(save.error)} path="" />
    </FormDialog>
  );
};

const states = Object.entries(words.states).map(([value, label]) => ({ value, label }));
const stateColors: Record<KeyState, string> = { active: 'teal', disabled: 'yellow', revoked: 'red', expired: 'gray' };

const useKeys = (page: number, state: KeyState | undefined, q: string | undefined) => {
  const query = { page, count: 20, ...(state !== undefined && { state }), ...(q !== undefined && { q }) };
  return useQuery({
    queryKey: ['aiAdmin', 'keys', query],
    queryFn: () => client.aiAdmin.keys({ query }),
    placeholderData: keepPreviousData,
  });
};

/** The API keys of AI assistants, with their scopes and status. */
export const AiKeysPage = () => {
  const { page, text: read, filter, set } = usePageSearch();
  const may = useMay();
  const [edited, setEdited] = useState<AiKey | 'new'>();
  const [secret, setSecret] = useState<string>();
  const state = read('state') as KeyState | undefined;
  const q = read('q');
  const { data, error } = useKeys(page, state, q);
  return (
    <>
      <ListPage
        title={text.nav.aiKeys}
        actions={
          <Group gap="xs">
            <ConnectButton />
            {may('aiAdmin', 'createKey') && <NewKeyButton onClick={() => setEdited('new')} />}
          </Group>
        }
        filters={<Filters state={state} q={q} onChange={filter} />}
        list={data}
        error={error}
        empty={state === undefined && q === undefined ? words.none : text.table.noneFound}
        page={page}
        onPage={(next) => set({ page: next })}
      >
        {(keys) => <KeyTable keys={keys} onEdit={setEdited} onSecret={setSecret} />}
      </ListPage>
      {edited !== undefined && (
        <KeyDialog
          aiKey={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSecret={setSecret}
        />
      )}
      {secret !== undefined && <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  );
};

const ConnectButton = () => (
  <Button variant="default" renderRoot={(props) => <Link {...props} to="/assistants" />}>
    {words.connect}
  </Button>
);

const NewKeyButton = ({ onClick }: { onClick: () => void }) => (
  <Button leftSection={<IconPlus size={16} />} onClick={onClick}>
    {words.new}
  </Button>
);

interface FiltersProps {
  state: KeyState | undefined;
  q: string | undefined;
  onChange: ReturnType<typeof usePageSearch>['filter'];
}

const Filters = ({ state, q, onChange }: FiltersProps) => (
  <>
    <TextInput
      aria-label={text.table.search}
      placeholder={text.table.search}
      defaultValue={q ?? ''}
      onChange={(event) => onChange({ q: event.currentTarget.value || undefined })}
    />
    <Select
      aria-label={words.state}
      placeholder={words.state}
      data={states}
      value={state ?? null}
      onChange={(next) => onChange({ state: next ?? undefined })}
      clearable
    />
  </>
);

const { columns: headers } = words;
const columns: readonly DataColumn<AiKey>[] = [
  {
    header: headers.name,
    cell: (one) => (
      <Link to="/audit" search={{ keyId: one.id }}>
        {one.name}
      </Link>
    ),
  },
  { header: headers.key, cell: ({ prefix }) => <Code>{prefix}…</Code> },
  {
    header: words.state,
    cell: (one) => (
      <Badge variant="dot" tt="none" color={stateColors[keyStateOf(one)]}>
        {words.states[keyStateOf(one)]}
      </Badge>
    ),
  },
  { header: headers.scopes, cell: (one) => <Text size="sm">{one.scopes.join(', ')}</Text> },
  { header: headers.expires, cell: ({ expiresAt }) => <TimeText at={expiresAt} /> },
  { header: headers.lastUsed, cell: ({ lastUsedAt }) => <TimeText at={lastUsedAt} /> },
];

interface KeyTableProps {
  keys: readonly AiKey[];
  onEdit: (key: AiKey) => void;
  onSecret: (secret: string) => void;
}

const KeyTable = ({ keys, onEdit, onSecret }: KeyTableProps) => {
  const mayChange = useMay()('aiAdmin', 'updateKey');
  const actions: DataColumn<AiKey> = {
    label: text.table.edit,
    width: 40,
    cell: (one) => <KeyActions aiKey={one} onEdit={() => onEdit(one)} onSecret={onSecret} />,
  };
  return <DataTable columns={[...columns, mayChange && actions]} rows={keys} keyOf={({ id }) => id} minWidth={720} />;
};

/** The secret of a key, shown once. Only the button closes it, because it cannot be shown again. */
const SecretDialog = ({ secret, onClose }: { secret: string; onClose: () => void }) => (
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
        <CopyTextButton value={secret} />
      </Group>
      <Text fw={600}>{words.connect}</Text>
      <SnippetTabs secret={secret} />
      <Group justify="flex-end">
        <Button onClick={onClose}>{words.done}</Button>
      </Group>
    </Stack>
  </Modal>
);
