import { createRequire } from 'node:module';
import type * as x509 from '@peculiar/x509';

const require = createRequire(import.meta.url);
let library: typeof x509 | undefined;

/**
 * The X.509 library, loaded at first use: it is large, and most starts never need it.
 * It refuses to load before the Reflect polyfill, so no other module may import it directly.
 */
export const loadX509 = (): typeof x509 => {
  if (library === undefined) {
    require('reflect-metadata');
    library = require('@peculiar/x509') as typeof x509;
  }
  return library;
};
