import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { parseSync } from 'vite';
import { confinedLibraries, type Package, packages } from './rooms.ts';
import { root } from './run.ts';

/** What one file imports: paths of the repository where they are ours, names of libraries otherwise. */
export interface SourceFile {
  path: string;
  imports: string[];
}

const ours = /^@rushhour\/([^/]+)/;

const resolve = (path: string, specifier: string) => {
  if (specifier.startsWith('.')) return normalize(join(dirname(path), specifier));
  const name = ours.exec(specifier)?.[1];
  return name ? `packages/${name}/src/index.ts` : specifier;
};

/** The imports of a file: static, type-only, re-exports and `import()`, in values and in types. */
export const parseImports = (path: string, text: string): SourceFile => {
  const { staticImports, staticExports } = parseSync(path, text).module;
  const specifiers = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) => entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? [])),
    ...[...text.matchAll(/\bimport\('([^']+)'\)/g)].flatMap(([, specifier]) => specifier ?? []),
  ];
  return { path, imports: [...new Set(specifiers.map((specifier) => resolve(path, specifier)))] };
};

const isTest = (path: string) => /\.test\.tsx?$|\/testing\//.test(path);

const isInside = (room: string, path: string) =>
  room.endsWith('/*') ? path.startsWith(room.slice(0, -1)) : path === room || path.startsWith(`${room}/`);

/** Where a file belongs: its package, the index of its room, and its folder in a room whose folders are apart. */
const findRoom = (path: string) => {
  const [, name, inner] = /^packages\/([^/]+)\/src\/(.+)$/.exec(path) ?? [];
  const owner = packages.find((candidate) => candidate.name === name);
  if (!owner || !inner) return;
  const index = owner.rooms.findIndex((room) => [room].flat().some((part) => isInside(part, inner)));
  const apart = [owner.rooms[index] ?? []].flat().find((part) => part.endsWith('/*') && isInside(part, inner));
  return { owner, index, apart: apart && inner.slice(apart.length - 1).split('/')[0], inner };
};

const describeRoom = ({ name, rooms }: Package, index: number) => [name, [rooms[index] ?? []].flat()[0]].join('/');

/** Why a file may not import another file of ours, or undefined. */
const findProblem = (from: string, to: string) => {
  const [source, target] = [findRoom(from), findRoom(to)];
  if (!source) return;
  if (!target) return `${from} imports ${to}, which is no package of scripts/rooms.ts`;
  if (source.owner !== target.owner) {
    if (source.owner.imports.includes(target.owner.name)) return;
    return `${from} imports ${to}: ${source.owner.name} may not import ${target.owner.name}`;
  }
  if (target.index > source.index || (target.index === source.index && target.apart !== source.apart)) {
    const rooms = [source, target].map(({ owner, index, apart }) =>
      describeRoom(owner, index).replace('*', apart ?? '*'),
    );
    return `${from} imports ${to}: ${rooms[0]} may not import ${rooms[1]}`;
  }
  return;
};

const findLibraryProblem = (from: string, library: string) => {
  const confined = confinedLibraries.find((candidate) => candidate.library.test(library));
  if (!confined || from.startsWith(`packages/${confined.room.replace('/', '/src/')}/`)) return;
  return `${from} imports ${library}: only ${confined.room} may`;
};

/** Every import that scripts/rooms.ts forbids, and every file that belongs to no room. */
export const findForbiddenImports = (files: readonly SourceFile[]) =>
  files
    .filter(({ path }) => path.startsWith('packages/') && !isTest(path))
    .flatMap(({ path, imports }) => {
      const room = findRoom(path);
      if (!room || (room.owner.rooms.length > 0 && room.index < 0))
        return [`${path} is in no room of scripts/rooms.ts`];
      return imports.flatMap(
        (target) =>
          (target.startsWith('packages/') ? findProblem(path, target) : findLibraryProblem(path, target)) ?? [],
      );
    });

/** The circles among the files, each once: a path that leads back to its first file. */
export const findCycles = (files: readonly SourceFile[]) => {
  const importsOf = new Map(files.map(({ path, imports }) => [path, imports]));
  const done = new Set<string>();
  const cycles: string[][] = [];
  const visit = (path: string, trail: string[]) => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([...trail.slice(start), path]);
    if (start >= 0 || done.has(path)) return;
    for (const target of importsOf.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const { path } of files) visit(path, []);
  return cycles;
};

export const readSourceFiles = () =>
  globSync('{packages/*/src,tests,bench,scripts}/**/*.{ts,tsx}', { cwd: root })
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

if (import.meta.main) {
  const files = readSourceFiles().map(({ path, text }) => parseImports(path, text));
  const problems = [
    ...findForbiddenImports(files),
    ...findCycles(files).map((cycle) => `circular import: ${cycle.join(' → ')}`),
  ];
  for (const problem of problems) console.error(problem);
  const count = files.reduce((sum, { imports }) => sum + imports.length, 0);
  console.log(`Checked ${count} imports in ${files.length} files: ${problems.length} problems`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
