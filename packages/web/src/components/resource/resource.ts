import { type api, type Collection, api as collections, type Route } from '@rushhour/contract';
import type { ReactNode } from 'react';
import { client } from '../../lib/client.ts';
import type { Controls } from '../schema-form/field.ts';
import type { ObjectSchema, Schema } from '../schema-form/schema.ts';

export type ResourceName = keyof typeof api;
export type Item = Record<string, unknown>;

export interface Column {
  /** Member of the record; also the sort key when the list can be sorted by it. */
  readonly key: string;
  readonly header: string;
  readonly render?: (item: Item) => ReactNode;
  readonly align?: 'right';
  /** Left out where the screen is narrow. */
  readonly isMinor?: boolean;
}

export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly options: readonly { value: string; label: string }[];
}

export interface CreateFormProps {
  onClose: () => void;
  onSaved: () => void;
}

/** What a page needs to know about a collection that its contract does not tell. */
export interface Resource {
  readonly name: ResourceName;
  readonly title: string;
  /** What to do when there is nothing yet. */
  readonly hint: string;
  readonly columns: readonly Column[];
  /** Filters whose choices the contract does not tell; those it tells are offered by themselves. */
  readonly filters?: readonly Filter[];
  /** Members shown in the form, in order; all writable ones unless given. */
  readonly form?: readonly string[];
  /** Members of the form that stay folded until they are wanted. */
  readonly formMore?: readonly string[];
  /** Hand-made fields by member. */
  readonly controls?: Controls;
  /** Follows what is typed into the form; `item` is the stored record. */
  readonly formAside?: (value: Item, item: Item | undefined) => ReactNode;
  /** Members that the form writes and the record itself does not show. */
  readonly loadMore?: (item: Item) => Promise<Item>;
  /** A form of its own for new records. */
  readonly createForm?: (props: CreateFormProps) => ReactNode;
  /** What the answer to a creation has to say, before the form closes. */
  readonly afterCreate?: (reply: unknown) => ReactNode;
  /** New records begin in `intro`: there is no button for them. */
  readonly hasOwnBeginning?: true;
  /** Beside the title: what else begins here. */
  readonly header?: ReactNode;
  /** Above the table. */
  readonly intro?: ReactNode;
  /** A page of its own instead of the generated form. */
  readonly createTo?: string;
  readonly itemTo?: (item: Item) => string;
  /** False for records that nobody may change. */
  readonly isChangeable?: (item: Item) => boolean;
  /** More to do with one record or with those that are selected. */
  readonly actions?: (items: readonly Item[], done: () => void) => ReactNode;
  /** More to see on the page of one record. */
  readonly details?: (item: Item) => ReactNode;
  /** Members that `details` shows better. */
  readonly hidden?: readonly string[];
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

/** Some records come in an envelope, some bare. */
const itemOf = (reply: Item): Item => ('data' in reply && 'cursor' in reply ? (reply['data'] as Item) : reply);

/** One record, whole. */
export const loadItem = async (name: ResourceName, id: number): Promise<Item> =>
  itemOf((await operationsOf(name)['get']?.({ params: { id } })) as Item);

const listQueryOf = (name: ResourceName): Record<string, Schema> =>
  ((routeOf(name, 'list')?.query as unknown as ObjectSchema | undefined)?.properties ?? {}) as Record<string, Schema>;

/** Users and groups count rows to skip, every other list counts pages. */
export const pageQuery = (name: ResourceName, page: number, count: number): object =>
  'offset' in listQueryOf(name) ? { count, offset: (page - 1) * count } : { count, page };

/** The keys a list can be sorted by. */
export const sortKeysOf = (name: ResourceName): readonly string[] =>
  (listQueryOf(name)['key']?.enum as string[] | undefined) ?? [];

export const canSearch = (name: ResourceName): boolean => 'search' in listQueryOf(name);

const paging = new Set(['count', 'page', 'offset', 'key', 'order', 'search']);

/** What a list can be filtered by. */
export const filtersOf = (name: ResourceName): [string, Schema][] =>
  Object.entries(listQueryOf(name)).filter(([member]) => !paging.has(member));

/** As much of the address as the list understands; the rest belongs to the page. */
export const queryOf = (name: ResourceName, search: Item): Item =>
  Object.fromEntries(
    Object.entries(search).filter(([member]) => member in listQueryOf(name) && !['page', 'count'].includes(member)),
  );

/** The schema of one record, for the help of its members. */
export const memberSchemas = (name: ResourceName): Record<string, Schema> => {
  const reply = routeOf(name, 'get')?.reply as unknown as ObjectSchema | undefined;
  const inner = reply?.properties?.['data'];
  return (reply?.properties?.['cursor'] && inner?.properties) || reply?.properties || {};
};
