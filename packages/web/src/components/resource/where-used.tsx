import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { text } from '../../lib/text.ts';
import { Section } from '../page.tsx';
import { type Reference, ReferenceList } from './reference-list.tsx';
import { type Item, idOf, operationsOf, type ResourceName, routeOf } from './resource.ts';

interface Usage {
  references: readonly Reference[];
  total: number;
}

const takesReferences = (name: ResourceName) => {
  const query = routeOf(name, 'get')?.query as { properties?: { include?: { pattern?: string } } } | undefined;
  return query?.properties?.include?.pattern?.includes('references') ?? false;
};

/** Collections report usage in one of three ways: an operation, `include=references`, or a member of the record. */
const readUsage = async (name: ResourceName, item: Item): Promise<Usage | null> => {
  const params = { id: idOf(item) };
  if (routeOf(name, 'usage') !== undefined) {
    const reply = await operationsOf(name)['usage']?.({ params, query: { count: 50 } });
    const { data, cursor } = reply as { data: Reference[]; cursor: { totalRows: number } };
    return { references: data, total: cursor.totalRows };
  }
  if (takesReferences(name)) {
    const reply = await operationsOf(name)['get']?.({ params, query: { include: 'references' } });
    const { references = [] } = (reply as { data: { references?: Reference[] } }).data;
    return { references, total: references.length };
  }
  const usedBy = item['usedBy'] as Reference[] | undefined;
  return usedBy === undefined ? null : { references: usedBy, total: usedBy.length };
};

/** The records that use this one. Nothing for collections that report usage only when a deletion is refused. */
export const WhereUsed = ({ name, item }: { name: ResourceName; item: Item }) => {
  const { data } = useQuery({
    queryKey: [name, 'usage', idOf(item)],
    queryFn: () => readUsage(name, item),
  });
  if (!data) return null;
  return (
    <Section title={text.usage.title}>
      {data.references.length === 0 ? (
        <Text size="sm" c="dimmed">
          {text.usage.none}
        </Text>
      ) : (
        <ReferenceList references={data.references} total={data.total} />
      )}
    </Section>
  );
};
