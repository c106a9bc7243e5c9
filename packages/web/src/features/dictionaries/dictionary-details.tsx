import { Text } from '@mantine/core';
import type { Dictionary } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { CellTable } from '../../components/data-table.tsx';
import { Section } from '../../components/page.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { howMany } from '../../lib/units.ts';

const { dictionaries: words } = text;
const maxShown = 20;

/** The first rows of a dictionary, and a sample drawn as in a test. */
export const DictionaryDetails = ({ dictionary }: { dictionary: Dictionary }) => {
  const { id, columns, rows, values, rowCount } = dictionary;
  const { data: sample = [] } = useQuery({
    queryKey: ['dictionaries', 'sample', id],
    queryFn: async () => {
      const query = { sample: 10, rowsLimit: 0 };
      return (await client.dictionaries.get({ params: { id }, query })).data.sample ?? [];
    },
    retry: false,
  });
  const first = rows.length > 0 ? rows.slice(0, maxShown) : values.slice(0, maxShown).map((value) => [value]);
  const note = words.ofAll(howMany(first.length), howMany(rowCount));
  return (
    <>
      {first.length > 0 && <Rows title={words.rows} note={note} columns={columns} rows={first} />}
      {sample.length > 0 && (
        <Rows title={words.sample} note={words.sampleHelp} columns={columns} rows={sample.map(Object.values)} />
      )}
    </>
  );
};

interface RowsProps {
  title: string;
  note: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}

const Rows = ({ title, note, columns, rows }: RowsProps) => (
  <Section
    title={title}
    aside={
      <Text size="sm" c="dimmed">
        {note}
      </Text>
    }
  >
    <CellTable label={title} columns={columns} rows={rows} />
  </Section>
);
