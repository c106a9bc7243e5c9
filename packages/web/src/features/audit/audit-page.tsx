import { Alert, Button, Code, Group, NumberInput, Select, TextInput } from '@mantine/core';
import { aiRisks } from '@rushhour/contract';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { ListPage } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';

const { audit: words } = text;

/** An entry of the audit chain; its other members depend on the operation. */
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
type PageSearch = ReturnType<typeof usePageSearch>;

/** The audit entries of AI keys, and a check of the whole chain. */
export const AuditPage = () => {
  const pageSearch = usePageSearch();
  const query = queryOf(pageSearch);
  const { data, error } = useQuery({
    queryKey: ['aiAdmin', 'audit', query],
    queryFn: () => client.aiAdmin.activity({ query }),
    placeholderData: keepPreviousData,
  });
  return (
    <ListPage
      title={text.nav.audit}
      actions={<VerifyButton />}
      hint={words.scope}
      filters={<Filters {...pageSearch} />}
      list={data && { ...data, data: data.data as unknown as Entry[] }}
      error={error}
      empty={words.none}
      page={pageSearch.page}
      onPage={(page) => pageSearch.set({ page })}
    >
      {(entries) => <DataTable columns={columns} rows={entries} keyOf={({ seq }) => seq} minWidth={760} />}
    </ListPage>
  );
};

const queryOf = ({ page, number, text: read }: PageSearch) => {
  const [keyId, state, risk, from, to] = [number('keyId'), read('outcome'), read('risk'), read('from'), read('to')];
  return {
    kind: 'audit' as const,
    count: 50,
    page,
    ...(keyId !== undefined && { keyId }),
    ...(state !== undefined && { state }),
    ...(risk !== undefined && { risk: risk as Risk }),
    ...(from !== undefined && { from: new Date(from).toISOString() }),
    ...(to !== undefined && { to: new Date(to).toISOString() }),
  };
};

const Filters = ({ number, text: read, filter }: PageSearch) => (
  <>
    <NumberInput
      label={words.key}
      min={1}
      w={110}
      value={number('keyId') ?? ''}
      onChange={(next) => filter({ keyId: next === '' ? undefined : Number(next) })}
    />
    <Select
      label={words.risk}
      data={[...aiRisks]}
      w={110}
      value={read('risk') ?? null}
      onChange={(next) => filter({ risk: next ?? undefined })}
      clearable
    />
    <Select
      label={words.outcome}
      data={['ok', 'denied', 'failed']}
      w={130}
      value={read('outcome') ?? null}
      onChange={(next) => filter({ outcome: next ?? undefined })}
      clearable
    />
    {(['from', 'to'] as const).map((name) => (
      <TextInput
        key={name}
        type="datetime-local"
        label={words[name]}
        defaultValue={read(name) ?? ''}
        onChange={(event) => filter({ [name]: event.currentTarget.value || undefined })}
      />
    ))}
  </>
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

const Details = ({ seq, at, ip, operationId, outcome, keyId, risk, ...rest }: Entry) => (
  <details>
    <summary>{words.details}</summary>
    <Code block tabIndex={0}>
      {JSON.stringify(rest, null, 2)}
    </Code>
  </details>
);

const { columns: headers } = words;
const columns: readonly DataColumn<Entry>[] = [
  { header: headers.entry, cell: ({ seq }) => seq },
  { header: headers.time, cell: ({ at }) => <TimeText at={at} /> },
  { header: words.key, cell: ({ keyId }) => keyId ?? '–' },
  { header: headers.operation, cell: ({ operationId }) => operationId },
  { header: words.risk, cell: ({ risk }) => risk ?? '–' },
  { header: words.outcome, cell: ({ outcome }) => outcome },
  { header: headers.source, cell: ({ ip }) => ip },
  { header: words.details, cell: (entry) => <Details {...entry} /> },
];
