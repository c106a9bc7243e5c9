import { useSyncExternalStore } from 'react';

/** Whether the controller answered the last request. */
let isLost = false;
const listeners = new Set<() => void>();

const set = (next: boolean) => {
  if (next === isLost) return;
  isLost = next;
  for (const listener of listeners) listener();
};

export const useConnectionLost = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => isLost,
  );

/** `fetch` that notes whether the controller answers. */
export const watchedFetch = async (url: string, init?: RequestInit): Promise<Response> => {
  try {
    const response = await fetch(url, init);
    set(false);
    return response;
  } catch (error) {
    // Aborted requests say nothing about the connection.
    if (!(error instanceof DOMException)) set(true);
    throw error;
  }
};
