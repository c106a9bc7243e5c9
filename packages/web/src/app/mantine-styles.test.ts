import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const source = fileURLToPath(new URL('../', import.meta.url));
const styles = fileURLToPath(new URL('styles/', import.meta.resolve('@mantine/core/styles.css')));

it('styles are imported for every component of the library that the interface uses', () => {
  const imported = readFileSync(`${source}app/mantine.css`, 'utf8');
  const used = globSync('**/*.tsx', { cwd: source }).flatMap((file) =>
    [...readFileSync(`${source}${file}`, 'utf8').matchAll(/import \{([^}]*)\} from '@mantine\/core'/g)].flatMap(
      ([, names = '']) => names.split(',').map((name) => name.trim()),
    ),
  );
  const styled = [...new Set(used)].filter((name) => existsSync(`${styles}${name}.css`));
  expect(styled.length).toBeGreaterThan(30);
  expect(styled.filter((name) => !imported.includes(`/styles/${name}.css"`))).toEqual([]);
});
