import { Alert, Code, Group, NumberInput, Switch, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { api } from '@rushhour/contract';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FormDialog } from '../../components/dialogs.tsx';
import { type ObjectSchema, type Schema, withoutNull, writableOf } from '../../components/schema-form/schema.ts';
import { SchemaFields, type Value } from '../../components/schema-form/schema-fields.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { hexOf, type Mapping, membersOf, type ParameterDraft } from './parameter.ts';

const { applications: words } = text;
const body = api.applications.routes.create.body as unknown as ObjectSchema;
const schema = withoutNull(body.properties['parameters'] as Schema).items as ObjectSchema;
const typingMs = 400;

interface ParameterDialogProps {
  applicationId: number;
  /** The other parameters of the application. */
  others: readonly ParameterDraft[];
  parameter: ParameterDraft;
  /** The recorded bytes of the whole step, for a parameter made from selected bytes. */
  recorded?: Uint8Array | undefined;
  onSave: (parameter: ParameterDraft) => Promise<void>;
  onClose: () => void;
}

/** Source and position of the values that replace recorded bytes. */
export const ParameterDialog = (props: ParameterDialogProps) => {
  const { applicationId, others, recorded, onSave, onClose } = props;
  const [value, setValue] = useState<Value>({ source: 'fixed', ...props.parameter });
  const [isEverywhere, setEverywhere] = useState(false);
  const [position] = (value['stepsMappings'] as Mapping[] | undefined) ?? [];
  const bytes = recorded && position && recorded.subarray(position.offset, position.offset + position.length);
  const same = useOccurrences(applicationId, bytes);
  const whole = { ...value, ...(isEverywhere && same && { stepsMappings: same }) } as ParameterDraft;
  const issues = useIssues(applicationId, others, whole);
  const members = ['name', 'source', 'type', ...(membersOf[String(value['source'])] ?? [])];
  const save = useMutation({ mutationFn: () => onSave(whole) });
  const move = (change: Partial<Mapping>) =>
    position && setValue({ ...value, stepsMappings: [{ ...position, ...change }] });
  return (
    <FormDialog title={words.parameter} onClose={onClose} onSubmit={save.mutate} error={save.error}>
      {bytes && position && <Marked bytes={bytes} position={position} stepLength={recorded.length} onMove={move} />}
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
    </FormDialog>
  );
};

interface MarkedProps {
  bytes: Uint8Array;
  position: Mapping;
  stepLength: number;
  onMove: (change: Partial<Mapping>) => void;
}

/** The selected bytes, which can also be changed by offset and length. */
const Marked = ({ bytes, position, stepLength, onMove }: MarkedProps) => (
  <div>
    <Text size="sm" fw={500}>
      {words.value}
    </Text>
    <Code block>{new TextDecoder('latin1').decode(bytes)}</Code>
    <Group grow mt="xs">
      <NumberInput
        label={words.offset}
        min={0}
        max={stepLength - 1}
        value={position.offset}
        onChange={(next) => onMove({ offset: Number(next) || 0 })}
      />
      <NumberInput
        label={words.bytes}
        min={0}
        max={stepLength - position.offset}
        value={position.length}
        onChange={(next) => onMove({ length: Number(next) || 0 })}
      />
    </Group>
  </div>
);

const maxPatternBytes = 250;

/** All positions of the same bytes in the selected sessions. */
const useOccurrences = (id: number, bytes: Uint8Array | undefined): Mapping[] | undefined => {
  const [pattern] = useDebouncedValue(bytes && bytes.length <= maxPatternBytes ? hexOf(bytes) : '', typingMs);
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

/** Validation issues of the parameter, updated while it is edited. */
const useIssues = (id: number, others: readonly ParameterDraft[], parameter: ParameterDraft) => {
  const [draft] = useDebouncedValue(JSON.stringify([...others, parameter]), typingMs);
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
