import { type api, type Collection, api as collections, type Route } from '@rushhour/contract';
import type { ReactNode } from 'react';
import { client } from '../../lib/client.ts';

export type ResourceName = keyof typeof api;
export type Item = Record<string, unknown>;

export interface Column {
  /** Member of the record; also the sort key when the list can be sorted by it. */
  readonly key: string;
  readonly header: string;
  readonly render?: (item: Item) => ReactNode;
  readonly align?: 'right';
}

export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly options: readonly { value: string; label: string }[];
}

/** What a page needs to know about a collection that its contract does not tell. */
export interface Resource {
  readonly name: ResourceName;
  readonly title: string;
  /** What to do when there is nothing yet. */
  readonly hint: string;
  readonly columns: readonly Column[];
  readonly filters?: readonly Filter[];
  /** Members shown in the form, in order; all writable ones unless given. */
  readonly form?: readonly string[];
  /** Beside the title: what else begins here. */
  readonly header?: ReactNode;
  /** A page of its own instead of the generated form. */
  readonly createTo?: string;
  readonly itemTo?: (item: Item) => string;
  /** More to do with one record or with those that are selected. */
  readonly actions?: (items: readonly Item[], done: () => void) => ReactNode;
  /** More to see on the page of one record. */
  readonly details?: (item: Item) => ReactNode;
}

export interface PageOf {
  cursor: { count: number; currentPage: number; totalPages: number; totalRows: number };
  data: Item[];
}

type Call = (request?: object) => Promise<unknown>;
type Operations = Record<string, Call | undefined>;

export const operationsOf = (name: ResourceName) => client[name] as unknown as Operations;
export const routeOf = (name: ResourceName, operation: string): Route | undefined =>
  (collections[name] as Collection).routes[operation];

/** The id of a record: projects spell it `ID`. */
export const idOf = (item: Item): number => Number(item['id'] ?? item['ID']);

/** What to call a record. */
export const nameOf = (item: Item): string =>
  String(item['name'] || item['comment'] || item['email'] || item['realName'] || `#${idOf(item)}`);

/** Users and groups count rows to skip, every other list counts pages. */
export const pageQuery = (name: ResourceName, page: number, count: number): object => {
  const query = routeOf(name, 'list')?.query as { properties?: object } | undefined;
  return query?.properties && 'offset' in query.properties ? { count, offset: (page - 1) * count } : { count, page };
};

/** The keys a list can be sorted by. */
export const sortKeysOf = (name: ResourceName): readonly string[] => {
  const query = routeOf(name, 'list')?.query as { properties?: { key?: { enum?: string[] } } } | undefined;
  return query?.properties?.key?.enum ?? [];
};

export const canSearch = (name: ResourceName): boolean => {
  const query = routeOf(name, 'list')?.query as { properties?: object } | undefined;
  return query?.properties !== undefined && 'search' in query.properties;
};
