import { createClient } from '@rushhour/client';
import { watchedFetch } from './connection.ts';

/** `again`: the session has expired; `fresh`: the operation requires a recent password. */
export type SignInReason = 'again' | 'fresh';
type Listener = (reason: SignInReason) => void;
const listeners = new Set<Listener>();
let refreshing: Promise<boolean> | undefined;

/** Registers a listener for requests that need a sign-in. Returns a function that removes it. */
export const onSignInRequired = (listener: Listener) => {
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

const requireSignIn = (reason: SignInReason) => {
  for (const listener of listeners) listener(reason);
};

const needsFreshPassword = async (response: Response): Promise<boolean> => {
  if (response.status !== 403) return false;
  const body = await response
    .clone()
    .json()
    .catch(() => undefined);
  return body?.data?.code === 'REAUTHENTICATION_REQUIRED';
};

/** `fetch` that renews an expired session once. If that fails, the listeners ask the user to sign in. */
export const send = async (url: string, init?: RequestInit): Promise<Response> => {
  const response = await watchedFetch(url, init);
  if (await needsFreshPassword(response)) requireSignIn('fresh');
  if (response.status !== 401 || isAuth(url)) return response;
  if (await refresh()) return watchedFetch(url, init);
  requireSignIn('again');
  return response;
};

export const client = createClient('', send);
