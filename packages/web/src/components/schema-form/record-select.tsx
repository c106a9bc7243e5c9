import { Select, type SelectProps } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { type Item, idOf, nameOf, operationsOf, pageQuery, type ResourceName, routeOf } from '../resource/resource.ts';

/** All records of a collection, for a select. */
export const useChoices = (name: ResourceName) => {
  const may = useMay();
  const { data } = useQuery({
    enabled: may(name, routeOf(name, 'all') !== undefined ? 'all' : 'list'),
    queryKey: [name, 'choices'],
    queryFn: async () => {
      const all = routeOf(name, 'all') !== undefined;
      const call = operationsOf(name)[all ? 'all' : 'list'];
      return (await call?.(all ? {} : { query: pageQuery(name, 1, 100) })) as { data: Item[] };
    },
  });
  return (data?.data ?? []).map((item) => ({ value: String(idOf(item)), label: nameOf(item) }));
};

interface RecordSelectProps extends Omit<SelectProps, 'name' | 'data' | 'value' | 'onChange'> {
  name: ResourceName;
  value: number | undefined;
  onChange: (id: number | undefined) => void;
}

/** Selects a record by name. */
export const RecordSelect = ({ name, value, onChange, ...rest }: RecordSelectProps) => (
  <Select
    searchable
    limit={100}
    nothingFoundMessage={text.form.noRecord}
    {...rest}
    data={useChoices(name)}
    value={value ? String(value) : null}
    onChange={(next) => onChange(next === null ? undefined : Number(next))}
  />
);
