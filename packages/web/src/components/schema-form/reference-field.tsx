import { NumberInput, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import type { ResourceName } from '../resource/resource.ts';
import { type FieldProps, frameOf } from './field.ts';
import { RecordSelect, RecordsSelect } from './record-select.tsx';
import { categoriesOf, referenceOf, type Schema, typeOf } from './schema.ts';

interface Named {
  id: number;
}

/** Collections by reference kind; other kinds are entered as a number. */
const collections: Readonly<Partial<Record<string, ResourceName>>> = {
  agent: 'agents',
  application: 'applications',
  campaign: 'compromisedHost',
  certificate: 'certificates',
  dictionary: 'dictionaries',
  file: 'files',
  network: 'networks',
  project: 'projects',
  signature: 'cve',
  task: 'tasks',
  tunnel: 'tunnels',
};

/** The collection whose records a reference of this kind names; undefined for those without a name. */
export const collectionOf = (kind: string): ResourceName | undefined => collections[kind];

/** Selects a record by name, as `x-reference` in the schema says. The value is its id, plain or as `{ id }`. */
export const ReferenceField = (props: FieldProps) => {
  const { schema, value, onChange, issues, path } = props;
  const kind = referenceOf(schema) ?? '';
  const isObject = typeOf(schema) === 'object';
  const id = isObject ? (value as Named | undefined)?.id : (value as number | undefined);
  const set = (next: number | undefined) => onChange(next === undefined || !isObject ? next : { id: next });
  const error = issues[path] ?? issues[`${path}/id`];
  const frame = { ...frameOf(props), ...(error !== undefined && { error }) };
  const choice = { ...props, frame, id, set };
  const collection = collections[kind];
  if (kind === 'interface') return <InterfaceSelect {...choice} />;
  if (collection !== undefined) return <KnownSelect {...choice} collection={collection} />;
  return <NumberInput {...frame} value={id ?? ''} onChange={(next) => set(next === '' ? undefined : Number(next))} />;
};

type Option = { value: string; label: string };

interface ChoiceProps extends FieldProps {
  frame: ReturnType<typeof frameOf>;
  id: number | undefined;
  set: (id: number | undefined) => void;
}

const KnownSelect = ({
  collection,
  schema,
  frame,
  id,
  set,
  isRequired,
}: ChoiceProps & { collection: ResourceName }) => (
  <RecordSelect
    {...frame}
    name={collection}
    listFilter={filterOf(schema)}
    value={id}
    onChange={set}
    clearable={!isRequired}
  />
);

/** Files of the categories that the member takes. */
const filterOf = (schema: Schema): { category?: readonly string[] } => {
  const category = categoriesOf(schema);
  return category.length === 0 ? {} : { category };
};

/** Interfaces of the agent selected in the same form. */
const InterfaceSelect = (props: ChoiceProps) => {
  const agentId = (props.form['agent'] as Named | undefined)?.id;
  const { data = [] } = useQuery({
    queryKey: ['agents', 'interfaces', agentId],
    queryFn: async () => (await client.agents.interfaces({ params: { id: agentId ?? 0 } })).data,
    enabled: agentId !== undefined,
    staleTime: 30_000,
  });
  const options = data.map(({ id, name, ips }) => ({ value: String(id), label: [name, ...ips].join(' ') }));
  return <IdSelect {...props} options={options} />;
};

const IdSelect = ({ frame, id, set, isRequired, options }: ChoiceProps & { options: readonly Option[] }) => (
  <Select
    {...frame}
    data={withCurrent(options, id)}
    value={id === undefined ? null : String(id)}
    onChange={(next) => set(next === null ? undefined : Number(next))}
    searchable
    limit={100}
    nothingFoundMessage={text.form.noRecord}
    clearable={!isRequired}
  />
);

/** Selects several records by name. */
export const ReferencesField = (props: FieldProps) => {
  const items = props.schema.items ?? {};
  const collection = collections[referenceOf(items) ?? ''];
  if (collection === undefined) throw new Error(`no collection of ${referenceOf(items)} is known`);
  return (
    <RecordsSelect
      {...frameOf(props)}
      name={collection}
      listFilter={filterOf(items)}
      value={(props.value as number[] | undefined) ?? []}
      onChange={(next) => props.onChange(next.length === 0 ? undefined : next)}
      clearable
    />
  );
};

/** Adds the current record if it is not listed, such as a deleted one. */
const withCurrent = (options: readonly Option[], id: number | undefined): Option[] =>
  id === undefined || options.some(({ value }) => value === String(id))
    ? [...options]
    : [...options, { value: String(id), label: `#${id}` }];
