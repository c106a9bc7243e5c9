import { createClient } from '@rushhour/client';

type Listener = () => void;
const listeners = new Set<Listener>();
let refreshing: Promise<boolean> | undefined;

/** Called when the session is over and could not be renewed. */
export const onSignedOut = (listener: Listener) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

const isAuth = (url: string) => url.includes('/v1/auth/');

const refresh = () => {
  refreshing ??= fetch('/v1/auth/refresh', { method: 'POST' })
    .then((response) => response.ok)
    .finally(() => {
      refreshing = undefined;
    });
  return refreshing;
};

/** A session that ran out is renewed once, unseen; when that fails, somebody asks the person to sign in. */
export const send = async (url: string, init?: RequestInit): Promise<Response> => {
  const response = await fetch(url, init);
  if (response.status !== 401 || isAuth(url)) return response;
  if (await refresh()) return fetch(url, init);
  for (const listener of listeners) listener();
  return response;
};

export const client = createClient('', send);
