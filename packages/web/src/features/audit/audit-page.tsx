import { Alert, Button, Code, Group, NumberInput, Select, TextInput } from '@mantine/core';
import { aiRisks } from '@rushhour/contract';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { ListPage } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { RecordName } from '../../components/record-name.tsx';
import { RecordSelect } from '../../components/schema-form/record-select.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';
import { choiceLabelOf } from '../../texts/choices.ts';
import { labelOf } from '../../texts/labels.ts';

const { audit: words } = text;

/** An entry of the audit chain; its other members depend on the operation. */
interface Entry {
  seq: number;
  at: string;
  ip: string;
  operationId: string;
  outcome: string;
  /** The user who did it, or who owns the key; null for the controller. */
  ownerID: number | null;
  keyId?: number;
  risk?: string;
  [member: string]: unknown;
}

type Risk = (typeof aiRisks)[number];
type PageSearch = ReturnType<typeof usePageSearch>;

/** The audit entries of users or AI keys, and a check of the whole chain. */
export const AuditPage = () => {
  const pageSearch = usePageSearch();
  const actor = useActor(pageSearch);
  const query = queryOf(pageSearch, actor);
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
      filters={<Filters {...pageSearch} actor={actor} />}
      list={data && { ...data, data: data.data as unknown as Entry[] }}
      error={error}
      empty={words.none}
      page={pageSearch.page}
      onPage={(page) => pageSearch.set({ page })}
    >
      {(entries) => <DataTable columns={columnsOf(actor)} rows={entries} keyOf={({ seq }) => seq} minWidth={760} />}
    </ListPage>
  );
};

type Actor = keyof typeof words.actors;
const actors = Object.keys(words.actors) as Actor[];

/** Those of keys when a key is named, or when the reader may not see users. */
const useActor = ({ text: read, number }: PageSearch): Actor => {
  const maySeeUsers = useMay()('users', 'list');
  if (!maySeeUsers || number('keyId') !== undefined) return 'keys';
  return actors.find((actor) => actor === read('by')) ?? 'users';
};

const queryOf = ({ page, number, text: read }: PageSearch, by: Actor) => {
  const [state, risk, from, to] = [read('outcome'), read('risk'), read('from'), read('to')];
  const [keyId, userId, operation] = [number('keyId'), number('userId'), read('operation')];
  return {
    kind: 'audit' as const,
    by,
    count: 50,
    page,
    ...(keyId !== undefined && { keyId }),
    ...(userId !== undefined && { userId }),
    ...(operation !== undefined && { operation }),
    ...(state !== undefined && { state }),
    ...(risk !== undefined && { risk: risk as Risk }),
    ...(from !== undefined && { from: new Date(from).toISOString() }),
    ...(to !== undefined && { to: new Date(to).toISOString() }),
  };
};

const Filters = ({ actor, ...search }: PageSearch & { actor: Actor }) => (
  <>
    {useMay()('users', 'list') && (
      <Select
        label={words.by}
        data={actors.map((value) => ({ value, label: words.actors[value] }))}
        w={180}
        value={actor}
        onChange={(next) =>
          search.filter({ by: next ?? undefined, risk: undefined, keyId: undefined, userId: undefined })
        }
        allowDeselect={false}
      />
    )}
    {actor === 'keys' ? <KeyFilters {...search} /> : <UserFilters {...search} />}
    <CommonFilters {...search} />
  </>
);

const KeyFilter = ({ number, filter }: PageSearch) => (
  <NumberInput
    label={words.key}
    min={1}
    w={110}
    value={number('keyId') ?? ''}
    onChange={(next) => filter({ keyId: next === '' ? undefined : Number(next) })}
  />
);

const KeyFilters = (search: PageSearch) => (
  <>
    <KeyFilter {...search} />
    <Select
      label={words.risk}
      data={aiRisks.map((value) => ({ value, label: labelOf(value) }))}
      w={110}
      value={search.text('risk') ?? null}
      onChange={(next) => search.filter({ risk: next ?? undefined })}
      clearable
    />
  </>
);

const UserFilters = (search: PageSearch) => (
  <>
    <RecordSelect
      name="users"
      label={words.user}
      value={search.number('userId')}
      onChange={(userId) => search.filter({ userId })}
      w={150}
      clearable
    />
    <TextInput
      label={words.operation}
      placeholder={words.operationExample}
      w={150}
      defaultValue={search.text('operation') ?? ''}
      onBlur={(event) => search.filter({ operation: event.currentTarget.value.trim() || undefined })}
      onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
    />
  </>
);

const CommonFilters = ({ text: read, filter }: PageSearch) => (
  <>
    <Select
      label={words.outcome}
      data={['ok', 'denied', 'failed'].map((value) => ({ value, label: choiceLabelOf(value, 'outcome') }))}
      w={110}
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
const keyColumns: readonly DataColumn<Entry>[] = [
  { header: words.key, cell: ({ keyId }) => keyId ?? '–' },
  { header: headers.operation, cell: ({ operationId }) => operationId },
  { header: words.risk, cell: ({ risk }) => risk ?? '–' },
];
const userColumns: readonly DataColumn<Entry>[] = [
  {
    header: words.user,
    cell: ({ ownerID }) => (ownerID === null ? words.controller : <RecordName name="users" id={ownerID} />),
  },
  { header: headers.operation, cell: ({ operationId }) => operationId },
];
const columnsOf = (actor: Actor): readonly DataColumn<Entry>[] => [
  { header: headers.entry, cell: ({ seq }) => seq },
  { header: headers.time, cell: ({ at }) => <TimeText at={at} /> },
  ...(actor === 'keys' ? keyColumns : userColumns),
  { header: words.outcome, cell: ({ outcome }) => outcome },
  { header: headers.source, cell: ({ ip }) => ip },
  { header: words.details, cell: (entry) => <Details {...entry} /> },
];
