import { api, type Collection, permissions } from '@rushhour/contract';
import type { Plugin } from 'vite';

const id = '\0thin-contract';
/** They use routes without their schemas, and every page needs them. */
const users = /packages\/(client\/src\/client|web\/src\/lib\/session)\.ts$/;

/** The routes without their schemas. */
const routes = () =>
  Object.fromEntries(
    Object.entries(api as Record<string, Collection>).map(([name, { routes }]) => [
      name,
      {
        routes: Object.fromEntries(
          Object.entries(routes).map(([operation, { method, path, access, download, events }]) => [
            operation,
            { method, path, access, ...(download && { download: true }), ...(events && { events: true }) },
          ]),
        ),
      },
    ]),
  );

const source = () => `
export const api = ${JSON.stringify(routes())};
export const permissions = ${JSON.stringify(permissions)};
export const permissionOf = ({ access }) => (['public', 'session', 'aiKey'].includes(access) ? undefined : access);
`;

/** Gives the modules of the first load a contract without schemas, which are most of its size. Forms load the schemas. */
export const thinContract = (): Plugin => ({
  name: 'thin-contract',
  enforce: 'pre',
  resolveId: (name, importer) => (name === '@rushhour/contract' && users.test(importer ?? '') ? id : null),
  load: (name) => (name === id ? source() : null),
});
