import { api, type Collection, permissionOf, permissions, type Route } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { client } from './client.ts';

export const sessionKey = ['session'] as const;

/** The signed-in user. */
export const sessionQuery = {
  queryKey: sessionKey,
  queryFn: async () => (await client.users.me()).data,
  staleTime: 60_000,
};

export const useSession = () => useQuery(sessionQuery);

const administrator = permissions['system.admin'];

/** Checks whether the user may call an operation. Actions without permission are not shown. */
export const useMay = () => {
  const { data } = useSession();
  const held = new Set(data?.permissions ?? []);
  return (name: keyof typeof api, operation: string): boolean => {
    const route = (api[name] as Collection).routes[operation] as Route | undefined;
    const permission = route && permissionOf(route);
    if (permission === undefined) return route !== undefined;
    return held.has(administrator) || held.has(permissions[permission]);
  };
};
