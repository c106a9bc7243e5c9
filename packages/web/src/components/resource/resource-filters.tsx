import { Button, Popover, Select, Stack, TextInput } from '@mantine/core';
import { IconFilter } from '@tabler/icons-react';
import { text } from '../../lib/text.ts';
import type { Search } from '../../lib/use-page-search.ts';
import { labelOf } from '../../texts/labels.ts';
import { recordsOf } from '../schema-form/record-field.tsx';
import { RecordSelect } from '../schema-form/record-select.tsx';
import { choicesOf, type Schema, typeOf } from '../schema-form/schema.ts';
import { filtersOf, type Resource } from './resource.ts';

interface ResourceFiltersProps {
  resource: Resource;
  search: Search;
  onChange: (members: Search) => void;
}

/** Filters that the resource names are always visible; all others of the API are behind a button. */
export const ResourceFilters = ({ resource, search, onChange }: ResourceFiltersProps) => {
  const { name, filters = [] } = resource;
  const others = filtersOf(name).filter(([member]) => !filters.some((filter) => filter.name === member));
  return (
    <>
      {filters.map(({ name: member, label, options }) => (
        <Select
          key={member}
          aria-label={label}
          placeholder={label}
          data={[...options]}
          value={search[member] === undefined ? null : String(search[member])}
          onChange={(value) => onChange({ [member]: value ?? undefined })}
          clearable
          w={180}
        />
      ))}
      {others.length > 0 && <MoreFilters members={others} search={search} onChange={onChange} />}
    </>
  );
};

interface MoreFiltersProps extends Omit<ResourceFiltersProps, 'resource'> {
  members: readonly [string, Schema][];
}

const MoreFilters = ({ members, search, onChange }: MoreFiltersProps) => {
  const active = members.filter(([member]) => search[member] !== undefined).length;
  const clear = () => onChange(Object.fromEntries(members.map(([member]) => [member, undefined])));
  return (
    <Popover position="bottom-start" withArrow shadow="md" trapFocus width={280}>
      <Popover.Target>
        <Button variant={active > 0 ? 'light' : 'default'} leftSection={<IconFilter size={16} />}>
          {text.filters.title}
          {active > 0 && ` (${active})`}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          {members.map(([member, schema]) => (
            <FilterField
              key={member}
              name={member}
              schema={schema}
              value={search[member]}
              onChange={(value) => onChange({ [member]: value })}
            />
          ))}
          {active > 0 && (
            <Button variant="subtle" onClick={clear}>
              {text.filters.clear}
            </Button>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
};

interface FilterFieldProps {
  name: string;
  schema: Schema;
  value: string | number | boolean | undefined;
  onChange: (value: string | number | boolean | undefined) => void;
}

/** Dropdowns stay inside the popover: a click outside it would close it. */
const inside = { comboboxProps: { withinPortal: false }, clearable: true } as const;

const FilterField = ({ name, schema, value, onChange }: FilterFieldProps) => {
  const label = labelOf(name);
  const current = value === undefined ? null : String(value);
  const choices = choicesOf(schema.items?.enum ? schema.items : schema, name);
  const collection = recordsOf[name];
  if (collection !== undefined) {
    return (
      <RecordSelect
        {...inside}
        name={collection}
        label={label}
        value={value === undefined ? undefined : Number(value)}
        onChange={onChange}
      />
    );
  }
  if (choices.length > 0 || typeOf(schema) === 'boolean') {
    const yesNo = [
      { value: 'true', label: text.filters.yes },
      { value: 'false', label: text.filters.no },
    ];
    const data = choices.length > 0 ? choices : yesNo;
    return (
      <Select {...inside} label={label} data={data} value={current} onChange={(next) => onChange(plainOf(next))} />
    );
  }
  return (
    <TextInput
      label={label}
      defaultValue={current ?? ''}
      {...(schema.format === 'date-time' && { placeholder: '2026-01-31T00:00:00Z' })}
      onBlur={(event) => onChange(event.currentTarget.value || undefined)}
      onKeyDown={(event) => event.key === 'Enter' && onChange(event.currentTarget.value || undefined)}
    />
  );
};

/** Numbers and booleans are typed in the URL. */
const plainOf = (chosen: string | null) => {
  if (chosen === null) return undefined;
  if (chosen === 'true' || chosen === 'false') return chosen === 'true';
  return /^\d{1,9}$/.test(chosen) ? Number(chosen) : chosen;
};
