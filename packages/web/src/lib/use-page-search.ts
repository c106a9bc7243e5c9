import { useNavigate, useSearch } from '@tanstack/react-router';

export type Search = Record<string, string | number | boolean | undefined>;

/** The search parameters of the page. Filters, page and open dialogs are in the URL, so that every state can be linked to. */
export const usePageSearch = () => {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const go = (members: Search, replace: boolean) =>
    void navigate({ to: '.', search: { ...search, ...members } as never, replace, resetScroll: !replace });
  const text = (name: string) => (search[name] === undefined ? undefined : String(search[name]));
  return {
    search,
    page: Number(search['page'] ?? 1),
    text,
    number: (name: string) => (search[name] === undefined ? undefined : Number(search[name])),
    /** Changes parameters in place; `undefined` removes one. */
    set: (members: Search) => go(members, true),
    /** Changes parameters and adds an entry to the browser history. */
    push: (members: Search) => go(members, false),
    /** Changes filters in place and returns to the first page. */
    filter: (members: Search) => go({ page: undefined, ...members }, true),
  };
};
