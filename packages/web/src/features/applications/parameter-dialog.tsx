import { Alert, Button, Code, Group, Modal, NumberInput, Stack, Switch, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { api } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Problem } from '../../components/problem.tsx';
import { type ObjectSchema, type Schema, withoutNull, writableOf } from '../../components/schema-form/schema.ts';
import { SchemaFields, type Value } from '../../components/schema-form/schema-fields.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { hexOf, type Mapping, membersOf, type ParameterDraft } from './parameter.ts';

const { applications: words } = text;
const body = api.applications.routes.create.body as unknown as ObjectSchema;
const schema = withoutNull(body.properties['parameters'] as Schema).items as ObjectSchema;
const pauseMs = 400;

interface ParameterDialogProps {
  applicationId: number;
  /** Those that stay beside the one that is written. */
  others: readonly ParameterDraft[];
  parameter: ParameterDraft;
  /** The recorded bytes of the whole step, where it was made by marking. */
  recorded?: Uint8Array | undefined;
  onSave: (parameter: ParameterDraft) => Promise<void>;
  onClose: () => void;
}

/** What is said instead of the recorded bytes, and where. */
export const ParameterDialog = (props: ParameterDialogProps) => {
  const { applicationId, others, recorded, onSave, onClose } = props;
  const [value, setValue] = useState<Value>({ source: 'fixed', ...props.parameter });
  const [isEverywhere, setEverywhere] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const [place] = (value['stepsMappings'] as Mapping[] | undefined) ?? [];
  const bytes = recorded && place && recorded.subarray(place.offset, place.offset + place.length);
  const same = useSame(applicationId, bytes);
  const whole = { ...value, ...(isEverywhere && same && { stepsMappings: same }) } as ParameterDraft;
  const issues = useIssues(applicationId, others, whole);
  const members = ['name', 'source', 'type', ...(membersOf[String(value['source'])] ?? [])];
  const move = (change: Partial<Mapping>) => place && setValue({ ...value, stepsMappings: [{ ...place, ...change }] });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setProblem(undefined);
    await onSave(whole).catch(setProblem);
  };
  return (
    <Modal opened onClose={onClose} title={words.parameter} size="lg" closeOnClickOutside={false}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack>
          {bytes && place && <Marked bytes={bytes} place={place} most={recorded.length} onMove={move} />}
          <SchemaFields
            schema={{ ...writableOf(schema, members), required: ['name', 'source'] }}
            value={value}
            onChange={setValue}
            issues={{}}
            path=""
          />
          {same && same.length > 1 && (
            <Switch
              label={words.everywhere}
              description={words.everywhereHelp(same.length)}
              checked={isEverywhere}
              onChange={(event) => setEverywhere(event.currentTarget.checked)}
            />
          )}
          {issues.map(({ path, message, severity }) => (
            <Alert key={`${path} ${message}`} color={severity === 'error' ? 'red' : 'yellow'} p="xs">
              {message}
            </Alert>
          ))}
          {problem !== undefined && <Problem error={problem} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {text.table.cancel}
            </Button>
            <Button type="submit">{text.table.save}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
};

interface MarkedProps {
  bytes: Uint8Array;
  place: Mapping;
  most: number;
  onMove: (change: Partial<Mapping>) => void;
}

/** The marked bytes; the numbers do what the mouse does. */
const Marked = ({ bytes, place, most, onMove }: MarkedProps) => (
  <div>
    <Text size="sm" fw={500}>
      {words.value}
    </Text>
    <Code block>{new TextDecoder('latin1').decode(bytes)}</Code>
    <Group grow mt="xs">
      <NumberInput
        label={words.offset}
        min={0}
        max={most - 1}
        value={place.offset}
        onChange={(next) => onMove({ offset: Number(next) || 0 })}
      />
      <NumberInput
        label={words.bytes}
        min={0}
        max={most - place.offset}
        value={place.length}
        onChange={(next) => onMove({ length: Number(next) || 0 })}
      />
    </Group>
  </div>
);

const longestFind = 250;

/** Where the same bytes are said again. */
const useSame = (id: number, bytes: Uint8Array | undefined): Mapping[] | undefined => {
  const [pattern] = useDebouncedValue(bytes && bytes.length <= longestFind ? hexOf(bytes) : '', pauseMs);
  const { data } = useQuery({
    queryKey: ['applications', 'same', id, pattern],
    queryFn: async () => {
      const find = [{ pattern, type: 'hex' as const, encodings: ['plain' as const] }];
      return (await client.applications.analyze({ body: { id, options: { find } } })).data.matches;
    },
    enabled: pattern !== '',
    retry: false,
  });
  return data
    ?.filter(({ exact }) => exact)
    .map(({ sessionIdx, stepIdx, side, offset, length }) => ({ sessionIdx, stepIdx, side, offset, length }));
};

/** What speaks against the parameter, while it is written. */
const useIssues = (id: number, others: readonly ParameterDraft[], parameter: ParameterDraft) => {
  const [draft] = useDebouncedValue(JSON.stringify([...others, parameter]), pauseMs);
  const { data } = useQuery({
    queryKey: ['applications', 'issues', id, draft],
    queryFn: async () => {
      const { issues } = (await client.applications.analyze({ body: { id, parameters: JSON.parse(draft) } })).data;
      return issues.filter(({ path }) => path.startsWith(`/parameters/${others.length}`));
    },
    enabled: parameter.name !== '',
    retry: false,
  });
  return data ?? [];
};
