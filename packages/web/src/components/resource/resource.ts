import { type api, type Collection, api as collections, type Route } from '@rushhour/contract';
import type { TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { labelOf } from '../../texts/labels.ts';
import type { Controls } from '../schema-form/field.ts';
import type { ObjectSchema, Schema } from '../schema-form/schema.ts';

export type ResourceName = keyof typeof api;
export type Item = Record<string, unknown>;

export interface Column {
  /** Member of the record, and the sort key if the list can be sorted by it. */
  readonly key: string;
  /** The label of the member when left out. */
  readonly header?: string;
  readonly render?: (item: Item) => ReactNode;
  readonly align?: 'right';
  /** Hidden on narrow screens. */
  readonly isMinor?: boolean;
}

export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly options: readonly { value: string; label: string }[];
}

export interface BulkAction {
  /** An operation that takes the ids as `array`. */
  readonly operation: string;
  readonly label: string;
  readonly icon: TablerIcon;
  /** Confirmed before it runs. */
  readonly question?: string;
  readonly appliesTo: (items: readonly Item[]) => boolean;
}

export interface CreateFormProps {
  onClose: () => void;
  onSaved: () => void;
}

/** What the pages of a collection need besides its API schema. */
export interface Resource {
  readonly name: ResourceName;
  readonly title: string;
  /** Shown while the collection is empty. */
  readonly hint: string;
  readonly columns: readonly Column[];
  /** Filters with choices that the API schema does not list; the others are generated. */
  readonly filters?: readonly Filter[];
  /** Members of the form, in order; all writable members when left out. */
  readonly form?: readonly string[];
  /** Members of the form behind "More settings". */
  readonly formMore?: readonly string[];
  /** Custom fields by member. */
  readonly controls?: Controls;
  /** Shown beside the form and updated with its value; `item` is the stored record. */
  readonly formAside?: (value: Item, item: Item | undefined) => ReactNode;
  /** Reads members that the form writes but the record does not contain. */
  readonly loadMore?: (item: Item) => Promise<Item>;
  /** Replaces the generated form for new records. */
  readonly createForm?: (props: CreateFormProps) => ReactNode;
  /** Shown after a record is created, before the form closes. */
  readonly afterCreate?: (reply: unknown) => ReactNode;
  /** Records are created in `intro`, so there is no button for it. */
  readonly hasOwnCreation?: true;
  /** Actions beside the title. */
  readonly header?: ReactNode;
  /** Above the table. */
  readonly intro?: ReactNode;
  /** URL of a page that replaces the generated form. */
  readonly createTo?: string;
  /** Of the button that leads there. */
  readonly createLabel?: string;
  readonly itemTo?: (item: Item) => string;
  /** False for records that cannot be changed, such as built-in ones. */
  readonly isChangeable?: (item: Item) => boolean;
  /** False for records that are deleted already. */
  readonly isRemovable?: (item: Item) => boolean;
  /** What a deletion means; that it cannot be undone when left out. */
  readonly removeText?: string;
  /** Actions that run an operation on one record or on the selected ones. */
  readonly bulk?: readonly BulkAction[];
  /** The filter of the task list that selects the tasks of a record. */
  readonly taskFilter?: 'agentID' | 'projectID';
  /** Other actions on one record or on the selected ones. */
  readonly actions?: (items: readonly Item[], done: () => void) => ReactNode;
  /** Shown on the page of one record. */
  readonly details?: (item: Item) => ReactNode;
  /** Lists show `details` of a record in a dialog, too. */
  readonly hasPreview?: true;
  /** Groups of members on the page of one record, in order; the other members follow them. */
  readonly sections?: readonly { readonly title: string; readonly members: readonly string[] }[];
  /** Members that `details` already shows. */
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

/** The id of a record. Projects spell it `ID`. */
export const idOf = (item: Item): number => Number(item['id'] ?? item['ID']);

export const headerOf = ({ key, header }: Column): string => header ?? labelOf(key);

/** The display name of a record. */
export const nameOf = (item: Item): string =>
  String(item['name'] || item['comment'] || item['email'] || item['realName'] || `#${idOf(item)}`);

/** Some replies wrap the record in an envelope, some do not. */
const itemOf = (reply: Item): Item => ('data' in reply && 'cursor' in reply ? (reply['data'] as Item) : reply);

/** The operation that reads one record: some collections have only a list, filtered by id. */
export const readOperationOf = (name: ResourceName): string | undefined =>
  routeOf(name, 'get') !== undefined ? 'get' : 'id' in listQueryOf(name) ? 'list' : undefined;

/** Reads one complete record. */
export const loadItem = async (name: ResourceName, id: number): Promise<Item> => {
  if (readOperationOf(name) === 'get') return itemOf((await operationsOf(name)['get']?.({ params: { id } })) as Item);
  const reply = (await operationsOf(name)['list']?.({ query: { id: [id] } })) as PageOf | undefined;
  const [item] = reply?.data ?? [];
  if (item === undefined) throw new Error(text.app.notFound);
  return item;
};

const listQueryOf = (name: ResourceName): Record<string, Schema> =>
  ((routeOf(name, 'list')?.query as unknown as ObjectSchema | undefined)?.properties ?? {}) as Record<string, Schema>;

/** Users and groups page by `offset`, all other lists by `page`. */
export const pageQuery = (name: ResourceName, page: number, count: number): object =>
  'offset' in listQueryOf(name) ? { count, offset: (page - 1) * count } : { count, page };

/** The keys a list can be sorted by. */
export const sortKeysOf = (name: ResourceName): readonly string[] =>
  (listQueryOf(name)['key']?.enum as string[] | undefined) ?? [];

export const canSearch = (name: ResourceName): boolean => 'search' in listQueryOf(name);

const paging = new Set(['count', 'page', 'offset', 'key', 'order', 'search']);

/** The filters of a list. */
export const filtersOf = (name: ResourceName): [string, Schema][] =>
  Object.entries(listQueryOf(name)).filter(([member]) => !paging.has(member));

/** The search parameters that the list operation accepts; the others belong to the page. */
export const queryOf = (name: ResourceName, search: Item): Item =>
  Object.fromEntries(
    Object.entries(search).filter(([member]) => member in listQueryOf(name) && !['page', 'count'].includes(member)),
  );

/** Schemas of the members of a record. */
export const memberSchemas = (name: ResourceName): Record<string, Schema> => {
  const reply = routeOf(name, 'get')?.reply as unknown as ObjectSchema | undefined;
  const inner = reply?.properties?.['data'];
  return (reply?.properties?.['cursor'] && inner?.properties) || reply?.properties || {};
};
