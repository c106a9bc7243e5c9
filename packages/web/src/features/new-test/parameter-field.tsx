import { NumberInput, PasswordInput, Select, Switch, TextInput } from '@mantine/core';
import type { TemplateParameter } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import type { ResourceName } from '../../components/resource/resource.ts';
import { RecordSelect } from '../../components/schema-form/record-select.tsx';
import { client } from '../../lib/client.ts';
import { labelOf } from '../../texts/labels.ts';
import { type ParameterValue, problemOf } from './new-test-form.ts';

interface ParameterFieldProps {
  parameter: TemplateParameter;
  /** The agent of the first slot, whose interfaces can be chosen. */
  agentId: number | undefined;
  value: ParameterValue | undefined;
  /** What the controller rejected. */
  issue: string | undefined;
  onChange: (value: ParameterValue | undefined) => void;
}

const collections: Readonly<Partial<Record<NonNullable<TemplateParameter['reference']>, ResourceName>>> = {
  network: 'networks',
  dictionary: 'dictionaries',
  file: 'files',
  application: 'applications',
  certificate: 'certificates',
  campaign: 'compromisedHost',
  signature: 'cve',
  tunnel: 'tunnels',
};
const secrets = new Set(['psk', 'password', 'secret']);

/** One parameter of a template: a record is chosen by its name, a number has its unit. */
export const ParameterField = (props: ParameterFieldProps) => {
  const { parameter, value, issue, onChange } = props;
  const { name, type, description, label, reference } = parameter;
  const problem = issue ?? problemOf(parameter, value);
  const title = label ?? labelOf(name);
  const frame = {
    label: title,
    description: description?.toLowerCase() === title.toLowerCase() ? undefined : description,
    inputWrapperOrder: ['label', 'input', 'description', 'error'] as ('label' | 'input' | 'description' | 'error')[],
    ...(problem !== undefined && { error: problem }),
  };
  if (reference !== undefined) return <ReferenceChoice {...props} frame={frame} />;
  if (type === 'boolean') {
    return (
      <Switch
        label={frame.label}
        description={description}
        checked={value === true}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    );
  }
  if (type === 'string') {
    const Input = secrets.has(name) ? PasswordInput : TextInput;
    return (
      <Input
        {...frame}
        value={String(value ?? '')}
        onChange={(event) => onChange(event.currentTarget.value || undefined)}
      />
    );
  }
  return <NumberChoice {...props} frame={frame} />;
};

interface FramedProps extends ParameterFieldProps {
  frame: { label: string; description: string | undefined; error?: string };
}

const NumberChoice = ({ parameter: { type, unit }, frame, value, onChange }: FramedProps) => (
  <NumberInput
    {...frame}
    allowDecimal={type === 'number'}
    thousandSeparator=" "
    {...(unit !== undefined && { suffix: ` ${unit}` })}
    value={typeof value === 'number' ? value : ''}
    onChange={(next) => onChange(next === '' ? undefined : Number(next))}
  />
);

const ReferenceChoice = (props: FramedProps) => {
  const { parameter, frame, value, onChange } = props;
  const { reference, category } = parameter;
  const collection = reference && collections[reference];
  if (collection === undefined) return <InterfaceChoice {...props} />;
  const filter = category === undefined ? {} : reference === 'file' ? { category: [category] } : { type: category };
  return (
    <RecordSelect
      {...frame}
      name={collection}
      listFilter={filter}
      value={typeof value === 'number' ? value : undefined}
      onChange={onChange}
      clearable
    />
  );
};

const InterfaceChoice = ({ agentId, frame, value, onChange }: FramedProps) => {
  const { data = [] } = useQuery({
    queryKey: ['agents', 'interfaces', agentId],
    queryFn: async () => (await client.agents.interfaces({ params: { id: agentId ?? 0 } })).data,
    enabled: agentId !== undefined,
  });
  return (
    <Select
      {...frame}
      data={data.map(({ id, name, ips }) => ({ value: String(id), label: [name, ...ips].join(' ') }))}
      value={value === undefined ? null : String(value)}
      onChange={(next) => onChange(next === null ? undefined : Number(next))}
      searchable
    />
  );
};
