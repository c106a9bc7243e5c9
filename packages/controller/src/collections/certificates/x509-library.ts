// @peculiar/x509 refuses to load before the Reflect polyfill, so nobody else may import it directly.
import 'reflect-metadata';

export * as x509 from '@peculiar/x509';
