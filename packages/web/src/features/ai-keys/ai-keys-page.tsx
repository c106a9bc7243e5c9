import {
  Badge,
  Button,
  Code,
  Group,
  Pagination,
  Select,
  Skeleton,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import type { AiKey } from '@rushhour/contract';
import { IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { EmptyState, Guarded } from '../../components/page-states.tsx';
import { Problem } from '../../components/problem.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { KeyActions } from './key-actions.tsx';
import { KeyDialog } from './key-dialog.tsx';
import { type KeyState, keyStateOf } from './key-schema.ts';
import { SecretDialog } from './secret-dialog.tsx';

const { aiKeys: words } = text;
const states = Object.entries(words.states).map(([value, label]) => ({ value, label }));
const stateColors: Record<KeyState, string> = { active: 'teal', disabled: 'yellow', revoked: 'red', expired: 'gray' };

/** The keys of assistants: what each may do and whether it still works. */
export const AiKeysPage = () => (
  <Guarded needs={['aiAdmin', 'keys']}>
    <AiKeys />
  </Guarded>
);

const AiKeys = () => {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const may = useMay();
  const [edited, setEdited] = useState<AiKey | 'new'>();
  const [secret, setSecret] = useState<string>();
  const page = Number(search['page'] ?? 1);
  const state = search['state'] as KeyState | undefined;
  const q = search['q'] === undefined ? undefined : String(search['q']);
  const query = { page, count: 20, ...(state !== undefined && { state }), ...(q !== undefined && { q }) };
  const { data, error } = useQuery({
    queryKey: ['aiAdmin', 'keys', query],
    queryFn: () => client.aiAdmin.keys({ query }),
    placeholderData: keepPreviousData,
  });
  const go = (members: object) => void navigate({ to: '.', search: { ...search, ...members } as never, replace: true });
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          {text.nav.aiKeys}
        </Title>
        {may('aiAdmin', 'createKey') && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setEdited('new')}>
            {words.new}
          </Button>
        )}
      </Group>
      <Group>
        <TextInput
          aria-label={text.table.search}
          placeholder={text.table.search}
          defaultValue={q ?? ''}
          onChange={(event) => go({ q: event.currentTarget.value || undefined, page: undefined })}
        />
        <Select
          aria-label={words.state}
          placeholder={words.state}
          data={states}
          value={state ?? null}
          onChange={(next) => go({ state: next ?? undefined, page: undefined })}
          clearable
        />
      </Group>
      {error && <Problem error={error} />}
      {data === undefined && !error && <Skeleton height={240} />}
      {data?.data.length === 0 && (
        <EmptyState title={state === undefined && q === undefined ? words.none : text.table.noneFound} />
      )}
      {data && data.data.length > 0 && <KeyTable keys={data.data} onEdit={setEdited} onSecret={setSecret} />}
      {data && data.cursor.totalPages > 1 && (
        <Pagination
          total={data.cursor.totalPages}
          value={page}
          onChange={(next) => go({ page: next })}
          getControlProps={(control) => ({ 'aria-label': control })}
        />
      )}
      {edited !== undefined && (
        <KeyDialog
          aiKey={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSecret={setSecret}
        />
      )}
      {secret !== undefined && <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
    </Stack>
  );
};

interface KeyTableProps {
  keys: readonly AiKey[];
  onEdit: (key: AiKey) => void;
  onSecret: (secret: string) => void;
}

const KeyTable = ({ keys, onEdit, onSecret }: KeyTableProps) => {
  const may = useMay();
  const mayChange = may('aiAdmin', 'updateKey');
  return (
    <Table.ScrollContainer minWidth={720}>
      <Table verticalSpacing="xs" className="numbers">
        <Table.Thead>
          <Table.Tr>
            {words.columns.map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
            {mayChange && <Table.Th w={40} aria-label={text.table.edit} />}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map((key) => (
            <Table.Tr key={key.id}>
              <Table.Td>
                <Link to="/audit" search={{ keyId: key.id }}>
                  {key.name}
                </Link>
              </Table.Td>
              <Table.Td>
                <Code>{key.prefix}…</Code>
              </Table.Td>
              <Table.Td>
                <Badge variant="dot" tt="none" color={stateColors[keyStateOf(key)]}>
                  {words.states[keyStateOf(key)]}
                </Badge>
              </Table.Td>
              <Table.Td maw={280}>
                <Text size="sm">{key.scopes.join(', ')}</Text>
              </Table.Td>
              <Table.Td>
                <TimeText at={key.expiresAt} />
              </Table.Td>
              <Table.Td>
                <TimeText at={key.lastUsedAt} />
              </Table.Td>
              {mayChange && (
                <Table.Td>
                  <KeyActions aiKey={key} onEdit={() => onEdit(key)} onSecret={onSecret} />
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
};
