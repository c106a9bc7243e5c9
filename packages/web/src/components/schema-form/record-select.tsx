import { MultiSelect, type MultiSelectProps, Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import {
  canSearch,
  type Item,
  idOf,
  loadItem,
  nameOf,
  operationsOf,
  pageQuery,
  type ResourceName,
  readOperationOf,
  routeOf,
} from '../resource/resource.ts';

export interface Choice {
  readonly value: string;
  readonly label: string;
}

const maxChoices = 100;
const typingMs = 200;

const choiceOf = (item: Item): Choice => ({ value: String(idOf(item)), label: nameOf(item) });

interface ChoiceOptions {
  /** Part of the name. */
  readonly search?: string;
  /** Further filters of the list. */
  readonly filter?: Item;
}

/** Records of a collection for a select: the newest, or those that match the search. */
export const useChoices = (name: ResourceName, { search = '', filter = {} }: ChoiceOptions = {}): Choice[] => {
  const may = useMay();
  const isSearched = canSearch(name) || routeOf(name, 'all') === undefined;
  const { data } = useQuery({
    enabled: may(name, isSearched ? 'list' : 'all'),
    queryKey: [name, 'choices', search, filter],
    queryFn: async () => {
      const query = {
        ...pageQuery(name, 1, maxChoices),
        ...filter,
        ...(search !== '' && canSearch(name) && { search }),
      };
      return (await operationsOf(name)[isSearched ? 'list' : 'all']?.(isSearched ? { query } : {})) as { data: Item[] };
    },
    placeholderData: keepPreviousData,
  });
  return (data?.data ?? []).map(choiceOf);
};

/** The chosen records that are not among the choices, such as older ones; a deleted one is shown by its id. */
const useChosen = (name: ResourceName, ids: readonly number[], choices: readonly Choice[]): Choice[] => {
  const may = useMay();
  const missing = ids.filter((id) => !choices.some(({ value }) => value === String(id)));
  const operation = readOperationOf(name);
  const canGet = operation !== undefined && may(name, operation);
  const found = useQueries({
    queries: missing.map((id) => ({
      enabled: canGet,
      queryKey: [name, 'choice', id],
      queryFn: () => loadItem(name, id),
      retry: false,
    })),
  });
  return missing.map((id, i) => ({
    value: String(id),
    label: found[i]?.data === undefined ? `#${id}` : nameOf(found[i].data),
  }));
};

interface SearchableOptions {
  readonly ids: readonly number[];
  readonly filter?: Item | undefined;
}

/** Options of a select that searches on the server, with the records chosen at present. */
const useSearchable = (name: ResourceName, { ids, filter = {} }: SearchableOptions) => {
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed, typingMs);
  const chosen = new Set(ids.map(String));
  const choices = useChoices(name, { search: search.trim(), filter });
  const others = useChosen(name, ids, choices);
  return {
    data: [...choices, ...others],
    // The server has searched already; chosen records stay so that their names can be shown.
    filter: ({ options, search: shown }: { options: readonly unknown[]; search: string }) =>
      (options as Choice[]).filter(({ value, label }) => !chosen.has(value) || label.includes(shown)) as never,
    onSearchChange: setTyped,
    searchable: true,
    nothingFoundMessage: text.form.noRecord,
  };
};

interface RecordSelectProps extends Omit<SelectProps, 'name' | 'data' | 'value' | 'onChange' | 'filter'> {
  name: ResourceName;
  /** Further filters of the list. */
  listFilter?: Item | undefined;
  value: number | undefined;
  onChange: (id: number | undefined) => void;
}

/** Selects a record by name, among all records of the collection. */
export const RecordSelect = ({ name, value, onChange, listFilter, ...rest }: RecordSelectProps) => (
  <Select
    {...rest}
    {...useSearchable(name, { ids: value === undefined || value === 0 ? [] : [value], filter: listFilter })}
    value={value ? String(value) : null}
    onChange={(next) => onChange(next === null ? undefined : Number(next))}
  />
);

interface RecordsSelectProps extends Omit<MultiSelectProps, 'name' | 'data' | 'value' | 'onChange' | 'filter'> {
  name: ResourceName;
  listFilter?: Item | undefined;
  value: readonly number[];
  onChange: (ids: number[]) => void;
}

/** Selects several records by name. */
export const RecordsSelect = ({ name, value, onChange, listFilter, ...rest }: RecordsSelectProps) => (
  <MultiSelect
    {...rest}
    {...useSearchable(name, { ids: value, filter: listFilter })}
    value={value.map(String)}
    onChange={(next) => onChange(next.map(Number))}
  />
);
