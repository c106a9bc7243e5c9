import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../../../../', import.meta.url));

/** Files outside `docs` that pages refer to. */
const isShown = (path: string) =>
  /^(docs|deploy)\//.test(path) || /^(README|ARCHITECTURE|CONTRIBUTING|CHANGELOG)\.md$|^LICENSE$/.test(path);

/** The address of a file of the repository: pages without their ending, the start page for `docs/README.md`. */
export const addressOf = (path: string) => {
  const page = path.replace(/\.md$/, '');
  if (page === 'docs/README') return '/guide';
  if (page.startsWith('docs/')) return `/guide/${page.slice('docs/'.length).replace(/\/README$/, '')}`;
  return `/guide/repository/${page}`;
};

/** The file of an address below `/guide/`, or nothing. */
export const fileAt = (address: string): string | undefined => {
  // Words, slashes and single dots: nothing that leads out of the repository.
  if (!/^(?:[\w-]+(?:\.[\w-]+)*\/)*[\w-]*(?:\.[\w-]+)*$/.test(address)) return undefined;
  const path = address.startsWith('repository/') ? address.slice('repository/'.length) : posix.join('docs', address);
  const candidates = [`${path}.md`, posix.join(path, 'README.md'), path];
  return candidates.find(
    (file) => isShown(file) && /\.\w+$|LICENSE$|Dockerfile$/.test(file) && existsSync(repository + file),
  );
};

/** Documents of `docs` itself. */
export const documentFiles = () => readdirSync(`${repository}docs`).filter((name) => name.endsWith('.md'));

export const readRepositoryFile = (path: string) => readFileSync(repository + path);

/** Turns links of the file `from` into addresses of the site; links elsewhere stay as they are. */
export const resolverOf = (from: string) => (target: string) => {
  if (/^(https?:|mailto:|#|\/)/.test(target)) return target;
  const [path = '', anchor] = target.split('#', 2);
  const file = posix.normalize(posix.join(posix.dirname(from), path)).replace(/\/$/, '');
  return addressOf(file) + (anchor === undefined ? '' : `#${anchor}`);
};
