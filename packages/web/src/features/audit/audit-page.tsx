import {
  Alert,
  Button,
  Code,
  Group,
  NumberInput,
  Pagination,
  Select,
  Skeleton,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { aiRisks } from '@rushhour/contract';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { EmptyState, Guarded } from '../../components/page-states.tsx';
import { Problem } from '../../components/problem.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';

const { audit: words } = text;

/** An entry as the controller tells it; what else it holds depends on the operation. */
interface Entry {
  seq: number;
  at: string;
  ip: string;
  operationId: string;
  outcome: string;
  keyId?: number;
  risk?: string;
  [member: string]: unknown;
}

type Risk = (typeof aiRisks)[number];

/** What AI keys did, entry by entry, and whether the chain of all entries is whole. */
export const AuditPage = () => (
  <Guarded needs={['aiAdmin', 'activity']}>
    <Audit />
  </Guarded>
);

const Audit = () => {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const page = Number(search['page'] ?? 1);
  const query = queryOf(search, page);
  const { data, error } = useQuery({
    queryKey: ['aiAdmin', 'audit', query],
    queryFn: () => client.aiAdmin.activity({ query }),
    placeholderData: keepPreviousData,
  });
  const go = (members: object) => void navigate({ to: '.', search: { ...search, ...members } as never, replace: true });
  const entries = (data?.data ?? []) as unknown as Entry[];
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          {text.nav.audit}
        </Title>
        <VerifyButton />
      </Group>
      <Text size="sm" c="dimmed">
        {words.scope}
      </Text>
      <Filters search={search} onChange={(members) => go({ ...members, page: undefined })} />
      {error && <Problem error={error} />}
      {data === undefined && !error && <Skeleton height={240} />}
      {data && entries.length === 0 && <EmptyState title={words.none} />}
      {entries.length > 0 && <EntryTable entries={entries} />}
      {data && data.cursor.totalPages > 1 && (
        <Pagination
          total={data.cursor.totalPages}
          value={page}
          onChange={(next) => go({ page: next })}
          getControlProps={(control) => ({ 'aria-label': control })}
        />
      )}
    </Stack>
  );
};

const queryOf = (search: Record<string, unknown>, page: number) => ({
  kind: 'audit' as const,
  count: 50,
  page,
  ...(search['keyId'] !== undefined && { keyId: Number(search['keyId']) }),
  ...(search['outcome'] !== undefined && { state: String(search['outcome']) }),
  ...(search['risk'] !== undefined && { risk: search['risk'] as Risk }),
  ...(search['from'] !== undefined && { from: new Date(String(search['from'])).toISOString() }),
  ...(search['to'] !== undefined && { to: new Date(String(search['to'])).toISOString() }),
});

interface FiltersProps {
  search: Record<string, unknown>;
  onChange: (members: object) => void;
}

const Filters = ({ search, onChange }: FiltersProps) => (
  <Group align="flex-end">
    <NumberInput
      label={words.key}
      min={1}
      w={110}
      value={search['keyId'] === undefined ? '' : Number(search['keyId'])}
      onChange={(next) => onChange({ keyId: next === '' ? undefined : Number(next) })}
    />
    <Select
      label={words.risk}
      data={[...aiRisks]}
      w={110}
      value={search['risk'] === undefined ? null : String(search['risk'])}
      onChange={(next) => onChange({ risk: next ?? undefined })}
      clearable
    />
    <Select
      label={words.outcome}
      data={['ok', 'denied', 'failed']}
      w={130}
      value={search['outcome'] === undefined ? null : String(search['outcome'])}
      onChange={(next) => onChange({ outcome: next ?? undefined })}
      clearable
    />
    <TextInput
      type="datetime-local"
      label={words.from}
      defaultValue={String(search['from'] ?? '')}
      onChange={(event) => onChange({ from: event.currentTarget.value || undefined })}
    />
    <TextInput
      type="datetime-local"
      label={words.to}
      defaultValue={String(search['to'] ?? '')}
      onChange={(event) => onChange({ to: event.currentTarget.value || undefined })}
    />
  </Group>
);

const VerifyButton = () => {
  const verify = useMutation({
    mutationFn: async () => (await client.aiAdmin.activity({ query: { kind: 'audit', count: 1, verify: true } })).chain,
  });
  const chain = verify.data;
  return (
    <Group>
      {verify.error && <Problem error={verify.error} />}
      {chain && (
        <Alert color={chain.isIntact ? 'teal' : 'red'} variant="default" role="status" p="xs">
          {chain.isIntact ? words.intact(chain.entries) : words.broken(chain.brokenAt ?? 0, chain.reason)}
        </Alert>
      )}
      <Button variant="default" loading={verify.isPending} onClick={() => verify.mutate()}>
        {words.verify}
      </Button>
    </Group>
  );
};

const EntryTable = ({ entries }: { entries: readonly Entry[] }) => (
  <Table.ScrollContainer minWidth={760}>
    <Table verticalSpacing={4} className="numbers">
      <Table.Thead>
        <Table.Tr>
          {[...words.columns, words.details].map((name) => (
            <Table.Th key={name}>{name}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {entries.map(({ seq, at, ip, operationId, outcome, keyId, risk, ...rest }) => (
          <Table.Tr key={seq}>
            <Table.Td>{seq}</Table.Td>
            <Table.Td>
              <TimeText at={at} />
            </Table.Td>
            <Table.Td>{keyId ?? '–'}</Table.Td>
            <Table.Td>{operationId}</Table.Td>
            <Table.Td>{risk ?? '–'}</Table.Td>
            <Table.Td>{outcome}</Table.Td>
            <Table.Td>{ip}</Table.Td>
            <Table.Td maw={260}>
              <details>
                <summary>{words.details}</summary>
                <Code block tabIndex={0}>
                  {JSON.stringify(rest, null, 2)}
                </Code>
              </details>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);
