import {
  api,
  type Collection,
  plugins,
  protocolProfiles,
  type Route,
  Settings,
  toJsonSchema,
} from '@rushhour/contract';
import type { TObject } from 'typebox';
import { statusOf } from '../../../errors.ts';
import { errorCodes } from './error-codes.ts';
import { membersTable, type Shown, tableOf } from './members-table.ts';
import { metricsPage, pluginList, pluginPage, protocolList, protocolPage } from './plugin-pages.ts';

const collections = Object.values(api as unknown as Record<string, Collection>);

const settingsPage = () => `# Settings

\`PATCH /v1/settings\`, \`rushhour settings update\` or *Settings* change them while the controller runs. What must be known before it
starts is a [variable](../../README.md#configuration).

${membersTable(toJsonSchema(Settings as unknown as TObject) as Shown)}
`;

const namesIn = (schema: Route['body']) => Object.keys((schema as Shown | undefined)?.properties ?? {});

const optionsOf = ({ params, query, body, upload, chunk }: Route) => {
  const options = [...namesIn(query), ...namesIn(body ?? upload)].map((name) => `--${name}`);
  const file = (upload ?? chunk) ? ['--file'] : [];
  return [...namesIn(params).map((name) => name.toUpperCase()), ...new Set([...options, ...file])].join(' ');
};

const operationsPage = () => `# Operations

Every operation of the API is a command. [The command line](../cli.md) has the commands that are more than one operation, and the
exit codes; \`rushhour COLLECTION OPERATION --help\` has types, defaults, choices and an example.

${collections
  .map(
    ({ tag, title, routes }) =>
      `## ${title}\n\n${tableOf(
        ['Command', 'What it does', 'Request', 'Permission', 'Arguments and options'],
        Object.entries(routes).map(([key, route]) => [
          ...[
            `\`rushhour ${tag} ${key}\``,
            route.summary,
            `\`${route.method} /v1${route.path}\``,
            `\`${route.access}\``,
          ],
          optionsOf(route),
        ]),
      )}\n`,
  )
  .join('\n')}`;

const meanings: Readonly<Record<keyof typeof statusOf, string>> = {
  invalid: 'The request is wrong; `data.issues` names every problem with its place',
  unauthenticated: 'Not signed in, or the token is not valid',
  forbidden: 'Not permitted',
  notFound: 'There is no such record or path',
  methodNotAllowed: 'The path takes other methods, which `Allow` lists',
  timeout: 'The body came too slowly',
  conflict: 'It contradicts the present state: a name that is taken, a record in use, an active run',
  gone: 'It was there and is no longer',
  tooLarge: 'The body is too large',
  unsupportedMedia: 'The type of the body is not one that is read here',
  rangeNotSatisfiable: 'The file does not have this range',
  misdirected: 'The `Host` header is not a name of this controller',
  tooMany: 'Too many requests; `Retry-After` says when to try again',
  headersTooLarge: 'The headers are too large',
  internal: 'A bug; the log has it with the `requestId`',
  unavailable: 'It cannot be done now; `Retry-After` says when to try again',
};

const errorsPage = () => `# Errors

Every error is an envelope with one plain sentence, a stable code and the id of the request:

\`\`\`json
{ "error": "/name is required", "data": { "code": "INVALID_REQUEST", "requestId": "m3x-1", "issues": [] } }
\`\`\`

${tableOf(
  ['Status', 'Meaning'],
  Object.entries(statusOf).map(([kind, status]) => [String(status), meanings[kind as keyof typeof statusOf]]),
)}

## Codes

Codes with a status are those of errors (\`data.code\`), the others those of issues (\`data.issues\`) and of the check of a task. The
last column is the folder of \`packages/controller/src\` that they come from.

${tableOf(
  ['Code', 'Status', 'Source'],
  errorCodes().map(({ code, statuses, folders }) => [
    `\`${code}\``,
    [...statuses].toSorted().join(', '),
    [...folders].toSorted().join(', '),
  ]),
)}
`;

const contents = () => `# Reference

Made by this controller from the tables that it runs by.

- [Plugins and their members](reference/plugins.md)
- [Protocol profiles](reference/protocols.md)
- [Metrics](reference/metrics.md)
- [Settings](reference/settings.md)
- [Operations and commands](reference/operations.md)
- [Errors](reference/errors.md)
- [The API document](/docs)
`;

const pages: Readonly<Record<string, () => string>> = {
  reference: contents,
  'reference/plugins': pluginList,
  'reference/protocols': protocolList,
  'reference/metrics': metricsPage,
  'reference/settings': settingsPage,
  'reference/operations': operationsPage,
  'reference/errors': errorsPage,
};

/** Addresses of all pages that are made from the contract. */
export const referenceAddresses = (): string[] => [
  ...Object.keys(pages),
  ...plugins.map(({ name }) => `reference/plugins/${name}`),
  ...Object.keys(protocolProfiles).map((name) => `reference/protocols/${name}`),
];

/** The page of an address below `/guide/` as Markdown, if it is one of the reference. */
export const referencePage = (address: string): string | undefined => {
  const [, kind, name = ''] = /^reference\/(plugins|protocols)\/([\w.-]+)$/.exec(address) ?? [];
  if (kind === undefined) return Object.hasOwn(pages, address) ? pages[address]?.() : undefined;
  if (kind === 'protocols')
    return Object.hasOwn(protocolProfiles, name) ? protocolPage(name as keyof typeof protocolProfiles) : undefined;
  const found = plugins.find((plugin) => plugin.name === name);
  return found && pluginPage(found);
};
