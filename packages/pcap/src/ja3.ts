import { hash } from 'node:crypto';
import { type ClientHello, withoutGrease } from './client-hello.ts';

/** JA3 fingerprint of a TLS client. */
export function ja3Of(hello: ClientHello): string {
  return hash('md5', ja3TextOf(hello), 'hex');
}

function ja3TextOf(hello: ClientHello): string {
  const lists = [hello.ciphers, hello.extensions, hello.groups].map((list) => withoutGrease(list).join('-'));
  return [hello.version, ...lists, hello.pointFormats.join('-')].join(',');
}
