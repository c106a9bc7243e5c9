import { describe, expect, it } from 'vitest';
import { findCycles, findForbiddenImports, parseImports, readSourceFiles } from './imports.ts';
import { confinedLibraries, packages } from './rooms.ts';

const file = (path: string, ...specifiers: string[]) =>
  parseImports(path, specifiers.map((specifier) => `import type { X } from '${specifier}';`).join('\n'));

/** A path inside a room: `x/*` stands for a folder of `x`, a file for itself. */
const fileIn = (name: string, room: string | readonly string[] = 'file.ts') => {
  const [part = ''] = [room].flat();
  return `packages/${name}/src/${part.includes('.') ? part : `${part.replace('*', 'one')}/file.ts`}`;
};

const forbiddenPackages = packages.flatMap(({ name, imports, rooms }) =>
  packages
    .filter((other) => other.name !== name && !imports.includes(other.name))
    .map((other) => [fileIn(name, rooms[0]), `@rushhour/${other.name}`] as const),
);

const forbiddenRooms = packages.flatMap(({ name, rooms }) =>
  rooms.slice(1).map((room, index) => [fileIn(name, rooms[index]), `/${fileIn(name, room)}`] as const),
);

const neighbours = packages.flatMap(({ name, rooms }) =>
  rooms
    .flat()
    .filter((room) => room.endsWith('/*'))
    .map((room) => [fileIn(name, room), '../other/file.ts'] as const),
);

/** A specifier that leads from one file of the repository to another. */
const relative = (from: string, to: string) =>
  to.startsWith('/') ? `${'../'.repeat(from.split('/').length - 1)}${to.slice(1)}` : to;

describe('import rules', () => {
  it.each([...forbiddenPackages, ...forbiddenRooms, ...neighbours])('%s may not import %s', (from, to) => {
    expect(findForbiddenImports([file(from, relative(from, to))])).toHaveLength(1);
  });

  it('a room may import the rooms before it, and itself', () => {
    for (const { name, rooms } of packages)
      for (const [index, room] of rooms.entries())
        for (const lower of rooms.slice(0, index + 1)) {
          const from = fileIn(name, room);
          expect(findForbiddenImports([file(from, relative(from, `/${fileIn(name, lower)}`))])).toEqual([]);
        }
  });

  it('a library confined to one room is found elsewhere', () => {
    expect(confinedLibraries).not.toHaveLength(0);
    expect(findForbiddenImports([file('packages/controller/src/store/x.ts', 'fastify')])).toHaveLength(1);
    expect(findForbiddenImports([file('packages/controller/src/http/x.ts', 'fastify')])).toEqual([]);
  });

  it('a file outside every room is found', () => {
    expect(findForbiddenImports([file('packages/web/src/elsewhere/x.ts')])).toHaveLength(1);
    expect(findForbiddenImports([file('packages/elsewhere/src/x.ts')])).toHaveLength(1);
  });

  it('every room of the list has files', () => {
    const paths = readSourceFiles().map(({ path }) => path);
    const present = packages.filter(({ name }) => paths.some((path) => path.startsWith(`packages/${name}/`)));
    expect(present.length).toBeGreaterThan(8);
    for (const { name, rooms } of present)
      for (const room of rooms.length > 0 ? rooms.flat() : ['']) {
        const start = `packages/${name}/src/${room.replace('*', '')}`;
        expect(
          paths.some((path) => path.startsWith(start)),
          start,
        ).toBe(true);
      }
  });
});

describe('circular imports', () => {
  it.each([
    ["import { b } from './b.ts';", "import type { A } from './a.ts';"],
    ["export { b } from './b.ts';", "export * from './a.ts';"],
    ["const b = await import('./b.ts');", "type A = import('./a.ts').A;"],
  ])('%s and %s are a circle', (a, b) => {
    const files = [parseImports('bench/a.ts', a), parseImports('bench/b.ts', b)];
    expect(findCycles(files)).toEqual([['bench/a.ts', 'bench/b.ts', 'bench/a.ts']]);
  });

  it('two paths to one file are no circle', () => {
    const files = [file('bench/a.ts', './b.ts', './c.ts'), file('bench/b.ts', './d.ts'), file('bench/c.ts', './d.ts')];
    expect(findCycles(files)).toEqual([]);
  });
});
