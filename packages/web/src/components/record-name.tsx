import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMay } from '../lib/session.ts';
import { loadItem, nameOf, type ResourceName, readOperationOf } from './resource/resource.ts';

/** A record by its name, or by its id while that is unknown. */
export const RecordName = ({ name, id }: { name: ResourceName; id: number }) => {
  const may = useMay();
  const operation = readOperationOf(name);
  const { data } = useQuery({
    queryKey: [name, 'choice', id],
    queryFn: () => loadItem(name, id),
    enabled: operation !== undefined && may(name, operation),
    retry: false,
  });
  return data === undefined ? `#${id}` : nameOf(data);
};

const pageOf = (name: ResourceName, id: number) => (name === 'tasks' ? `/tasks/${id}` : `/resources/${name}/${id}`);

/** The name of a record, which leads to its page. */
export const RecordLink = ({ name, id }: { name: ResourceName; id: number }) => {
  const shown = <RecordName name={name} id={id} />;
  // Campaigns have a page for all of them.
  if (name === 'compromisedHost') return shown;
  return (
    <Anchor inherit renderRoot={(props) => <Link {...props} to={pageOf(name, id)} />}>
      {shown}
    </Anchor>
  );
};
