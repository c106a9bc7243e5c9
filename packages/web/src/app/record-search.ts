import { useQuery } from '@tanstack/react-query';
import type { ComponentType } from 'react';
import {
  canSearch,
  idOf,
  nameOf,
  operationsOf,
  type PageOf,
  pageQuery,
  type ResourceName,
} from '../components/resource/resource.ts';
import { useMay } from '../lib/session.ts';
import { navigation } from './navigation.ts';

export interface Destination {
  readonly label: string;
  readonly to: string;
  readonly icon?: ComponentType<{ size?: number }>;
  /** The collection of a record. */
  readonly kind?: string;
}

const minLetters = 2;
const maxPerCollection = 3;

/** The searchable collections of the menu. */
const collections = navigation
  .flatMap(({ items }) => items)
  .flatMap(({ label, to, icon }) => {
    const name = /^\/resources\/(\w+)$/.exec(to)?.[1] as ResourceName | undefined;
    return name !== undefined && canSearch(name) ? [{ name, kind: label, icon }] : [];
  });

const urlOf = (name: ResourceName, id: number) => (name === 'tasks' ? `/tasks/${id}` : `/resources/${name}/${id}`);

const search = async (name: ResourceName, typed: string) => {
  const query = { ...pageQuery(name, 1, 10), search: typed };
  const page = (await operationsOf(name)['list']?.({ query })) as PageOf;
  return page.data.slice(0, maxPerCollection);
};

/** Records that match the search, a few of each collection. */
export const useRecords = (typed: string): Destination[] => {
  const may = useMay();
  const allowed = collections.filter(({ name }) => may(name, 'list'));
  const { data } = useQuery({
    queryKey: ['palette', typed],
    queryFn: async () => {
      const found = await Promise.all(allowed.map(async (one) => ({ ...one, items: await search(one.name, typed) })));
      return found.flatMap(({ name, kind, icon, items }) =>
        items.map((item) => ({ label: nameOf(item), kind, icon, to: urlOf(name, idOf(item)) })),
      );
    },
    enabled: typed.length >= minLetters,
  });
  return typed.length >= minLetters ? (data ?? []) : [];
};
