import { SimpleGrid, Text } from '@mantine/core';
import { Section } from '../../../components/page.tsx';
import { text } from '../../../lib/text.ts';
import type { CountsRow } from './security-report.ts';
import { techniqueName } from './technique-names.ts';

const { security } = text;

const colorOf = (stopped: number, decided: number) => {
  if (decided === 0) return 'gray';
  if (stopped === decided) return 'teal';
  return stopped === 0 ? 'red' : 'yellow';
};

/** ATT&CK techniques as tiles: green when all attempts were blocked, red when none was, grey when nothing was decided. */
export const TechniqueMap = ({ rows }: { rows: readonly CountsRow[] }) =>
  rows.length > 0 && (
    <Section title={security.byTechnique} order={3}>
      <SimpleGrid cols={{ base: 2, xs: 3, md: 4, lg: 6 }} spacing={6} component="ul" p={0} m={0}>
        {rows.map((row) => (
          <Tile key={row.name} row={row} />
        ))}
      </SimpleGrid>
    </Section>
  );

const Tile = ({ row: { name, blocked, modified, passed } }: { row: CountsRow }) => {
  const [stopped, decided] = [blocked + modified, blocked + modified + passed];
  const [id, ...words] = techniqueName(name).split(' ');
  return (
    <li className="tile" style={{ background: `var(--mantine-color-${colorOf(stopped, decided)}-light)` }}>
      <Text size="xs" className="numbers">
        {id}
      </Text>
      <Text size="sm" fw={600} lh={1.25} style={{ overflowWrap: 'anywhere' }}>
        {words.join(' ')}
      </Text>
      <Text size="xs" className="numbers">
        {decided === 0 ? security.undecided : security.stoppedOf(stopped, decided)}
      </Text>
    </li>
  );
};
