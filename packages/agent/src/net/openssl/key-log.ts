import { requireOpenssl } from './library.ts';

/** A line of the key log of NSS, as Wireshark reads it. */
export type OnKeyLine = (line: string) => void;

const listeners = new Map<number, OnKeyLine>();
let callback: number | undefined;

const heard = (session: number, line: string): void => {
  listeners.get(requireOpenssl().SSL_get_SSL_CTX(session))?.(line);
};

/** Tells the secrets of all sessions of a context. */
export const listenForKeys = (context: number, onLine: OnKeyLine): void => {
  const openssl = requireOpenssl();
  callback ??= openssl.callback('void RushhourKeyLine(uintptr_t session, str line)', heard);
  listeners.set(context, onLine);
  openssl.SSL_CTX_set_keylog_callback(context, callback);
};

export const forgetKeys = (context: number): void => void listeners.delete(context);
