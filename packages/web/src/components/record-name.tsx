import { useQuery } from '@tanstack/react-query';
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
