import { fileURLToPath } from 'node:url';
import type { fillWithDemoData } from '../../scripts/demo-data.ts';

/** Values for the parameters of a route. */
export type Example = Readonly<Record<string, string>>;

interface WebRouter {
  readonly routesByPath: Readonly<Record<string, unknown>>;
}

interface Listed {
  readonly name: string;
}

const source = (path: string) => fileURLToPath(new URL(`../../packages/web/src/app/${path}`, import.meta.url));

/** Records for the pages of single records. */
export const examplesOf = (data: Awaited<ReturnType<typeof fillWithDemoData>>): Example[] => [
  { name: 'projects', id: String(data.project) },
  { name: 'networks', id: String(data.networks[0]) },
  { name: 'macs', id: '1' },
  { name: 'tunnels', id: '1' },
  { name: 'certificates', id: String(data.certificates.expired) },
  { name: 'files', id: String(data.capture) },
  { name: 'applications', id: String(data.application) },
  { name: 'dictionaries', id: String(data.dictionary) },
  { name: 'taskTemplates', id: '1' },
  { name: 'users', id: '1' },
  { name: 'groups', id: '2' },
];

/**
 * All URLs of the interface: the routes of its router, those of collections once per collection.
 * A route with parameters is left out if `examples` has no values for them.
 */
export const pagesOf = async (examples: readonly Example[]): Promise<string[]> => {
  const { router } = (await import(source('router.tsx'))) as { router: WebRouter };
  const { resources } = (await import(source('resources/resources.tsx'))) as { resources: readonly Listed[] };
  const all = [...examples, ...resources.map(({ name }) => ({ name }))];
  const paths = Object.keys(router.routesByPath).filter((path) => !['/sign-in', '/password'].includes(path));
  return [...new Set(paths.flatMap((path) => filled(path, all)))];
};

/** Examples with a `name` are records of a collection; the others belong to the page named by `of`. */
const filled = (path: string, examples: readonly Example[]): string[] => {
  const open = [...path.matchAll(/\$(\w+)/g)].map(([, name = '']) => name);
  if (open.length === 0) return [path];
  const fits = (example: Example) => path.startsWith(`/${example['of'] ?? 'resources'}/`);
  return examples
    .filter((example) => fits(example) && open.every((name) => name in example))
    .map((example) => path.replace(/\$(\w+)/g, (_, name: string) => example[name] ?? ''));
};
