import { Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FieldProps, frameOf, type Value } from '../../components/schema-form/field.ts';
import { GroupField } from '../../components/schema-form/group-field.tsx';
import type { ObjectSchema } from '../../components/schema-form/schema.ts';
import { SchemaFields } from '../../components/schema-form/schema-fields.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';

/** The parameters of a tunnel, generated from the schema of its type. */
export const TunnelParams = (props: FieldProps) => {
  const { form, value, onChange, issues, path } = props;
  const { data } = useQuery({
    queryKey: ['tunnels', 'types'],
    queryFn: async () => (await client.tunnels.types()).data,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const chosen = data?.find(({ type }) => type === form['type']);
  if (form['type'] === undefined)
    return (
      <Text size="sm" c="dimmed">
        {frameOf(props).label}: {text.tunnels.chooseType}
      </Text>
    );
  if (chosen === undefined) return <Skeleton height={60} />;
  return (
    <GroupField {...props} isRequired schema={{ description: chosen.title, default: {} }}>
      <SchemaFields
        key={chosen.type}
        schema={chosen.schema as unknown as ObjectSchema}
        value={(value as Value | undefined) ?? {}}
        onChange={onChange}
        issues={issues}
        path={path}
      />
    </GroupField>
  );
};
