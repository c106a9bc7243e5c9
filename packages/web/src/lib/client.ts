import { createClient } from '@rushhour/client';

/** `again`: the session ran out; `fresh`: the password must have been given a short time ago. */
export type SignInReason = 'again' | 'fresh';
type Listener = (reason: SignInReason) => void;
const listeners = new Set<Listener>();
let refreshing: Promise<boolean> | undefined;

/** Called when the person must sign in: the session is over, or what they want needs a fresh password. */
export const onSignInWanted = (listener: Listener) => {
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

const askToSignIn = (reason: SignInReason) => {
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

/** A session that ran out is renewed once, unseen; when that fails, somebody asks the person to sign in. */
export const send = async (url: string, init?: RequestInit): Promise<Response> => {
  const response = await fetch(url, init);
  if (await needsFreshPassword(response)) askToSignIn('fresh');
  if (response.status !== 401 || isAuth(url)) return response;
  if (await refresh()) return fetch(url, init);
  askToSignIn('again');
  return response;
};

export const client = createClient('', send);
