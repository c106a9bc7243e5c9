import { Alert, Button, Code, Group, MultiSelect, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import type { AccessToken, Permission } from '@rushhour/contract';
import { IconTrash } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { CopyTextButton, IconButton } from '../../components/buttons.tsx';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { DialogButton, FormDialog } from '../../components/dialogs.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { permissionChoices } from '../../lib/permission-names.ts';
import { sessionKey, useSession } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

const { tokens: words } = text;
const defaultDays = 90;

/** The access tokens of the signed-in user, for pipelines and scripts. */
export const AccessTokens = () => {
  const { data: user } = useSession();
  const revoke = useRevoke();
  const tokens = user?.accessTokens ?? [];
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {words.help}
      </Text>
      {tokens.length > 0 && (
        <DataTable
          label={words.title}
          columns={columnsOf((id) => revoke.mutate(id))}
          rows={tokens}
          keyOf={({ id }) => id}
        />
      )}
      <Group>
        <DialogButton label={words.create} variant="default">
          {(close) => <TokenDialog onClose={close} />}
        </DialogButton>
      </Group>
    </Stack>
  );
};

const columnsOf = (onRevoke: (id: number) => void): DataColumn<AccessToken>[] => [
  { header: words.name, isLong: true, cell: ({ name }) => name },
  { header: words.prefix, isMinor: true, cell: ({ prefix }) => <Code>{prefix}…</Code> },
  {
    header: words.scopes,
    isMinor: true,
    cell: ({ scopes }) => (scopes.length === 0 ? words.allScopes : scopes.join(', ')),
  },
  { header: words.expires, cell: ({ expiresAt }) => <TimeText at={expiresAt} /> },
  {
    label: words.revoke,
    width: 40,
    cell: ({ id, name }) => (
      <IconButton label={words.revokeOf(name)} icon={IconTrash} color="red" onClick={() => onRevoke(id)} />
    ),
  },
];

const useRevoke = () => {
  const queries = useQueryClient();
  const toasts = useToasts();
  return useMutation({
    mutationFn: (id: number) => client.users.updateMe({ body: { revokeTokens: [id] } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: sessionKey });
      toasts.done(words.revoked);
    },
    onError: (error) => toasts.problem(error),
  });
};

interface Draft {
  readonly name: string;
  readonly ttlDays: number;
  readonly scopes: readonly string[];
}

const createToken = async ({ name, ttlDays, scopes }: Draft) => {
  const limited = scopes.length > 0 && { scopes: scopes as Permission[] };
  const body = { createToken: { name: name.trim(), ttlDays, ...limited } };
  return (await client.users.updateMe({ body })).data.token;
};

const TokenDialog = ({ onClose }: { onClose: () => void }) => {
  const queries = useQueryClient();
  const [draft, setDraft] = useState<Draft>({ name: '', ttlDays: defaultDays, scopes: [] });
  const create = useMutation({
    mutationFn: () => createToken(draft),
    onSuccess: () => queries.invalidateQueries({ queryKey: sessionKey }),
  });
  if (create.data !== undefined) return <NewToken token={create.data} onClose={onClose} />;
  return (
    <FormDialog
      title={words.create}
      size="md"
      label={words.submit}
      onClose={onClose}
      onSubmit={create.mutate}
      error={create.error}
      isBusy={create.isPending}
      isDisabled={draft.name.trim() === ''}
    >
      <TokenFields draft={draft} onChange={(members) => setDraft({ ...draft, ...members })} />
    </FormDialog>
  );
};

const TokenFields = ({ draft, onChange }: { draft: Draft; onChange: (members: Partial<Draft>) => void }) => (
  <>
    <TextInput
      label={words.name}
      description={words.nameHelp}
      value={draft.name}
      onChange={(event) => onChange({ name: event.currentTarget.value })}
      maxLength={128}
      required
    />
    <NumberInput
      label={words.ttl}
      suffix={words.days}
      value={draft.ttlDays}
      min={1}
      max={366}
      onChange={(days) => onChange({ ttlDays: Number(days) || defaultDays })}
    />
    <MultiSelect
      label={words.scopes}
      description={words.scopesHelp}
      data={permissionChoices()}
      value={[...draft.scopes]}
      onChange={(scopes) => onChange({ scopes })}
      searchable
      clearable
    />
  </>
);

const NewToken = ({ token, onClose }: { token: string; onClose: () => void }) => (
  <FormDialog
    title={words.create}
    size="md"
    onClose={onClose}
    onSubmit={onClose}
    buttons={
      <Group justify="flex-end">
        <CopyTextButton value={token} />
        <Button type="submit">{text.app.close}</Button>
      </Group>
    }
  >
    <Alert color="yellow">{words.onlyNow}</Alert>
    <Code block style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
      {token}
    </Code>
  </FormDialog>
);
