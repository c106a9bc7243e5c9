import { Modal, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMay } from '../../lib/session.ts';
import { Problem } from '../problem.tsx';
import { type CreateFormProps, type Item, loadItem, type Resource } from './resource.ts';
import { ResourceFormDialog } from './resource-form-dialog.tsx';

interface ResourceDialogProps extends CreateFormProps {
  resource: Resource;
  /** The search parameter `edit`: `new` or the id of a record. */
  edit: unknown;
}

/** The form that the URL asks for, if the user has the permission. */
export const ResourceDialog = ({ resource, edit, ...rest }: ResourceDialogProps) => {
  const may = useMay();
  if (edit === undefined || !may(resource.name, edit === 'new' ? 'create' : 'update')) return null;
  if (edit !== 'new') return <EditDialog resource={resource} id={Number(edit)} {...rest} />;
  return resource.createForm ? resource.createForm(rest) : <ResourceFormDialog resource={resource} {...rest} />;
};

/** Lists contain partial records, so the whole record is read before it is edited. */
const EditDialog = ({ resource, id, ...rest }: CreateFormProps & { resource: Resource; id: number }) => {
  const { data, error, isFetching } = useQuery({
    queryKey: [resource.name, 'form', id],
    queryFn: async (): Promise<Item> => {
      const item = await loadItem(resource.name, id);
      return { ...item, ...(await resource.loadMore?.(item)) };
    },
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  if (data !== undefined && !isFetching) return <ResourceFormDialog resource={resource} item={data} {...rest} />;
  return (
    <Modal opened onClose={rest.onClose}>
      {error ? <Problem error={error} /> : <Skeleton height={240} />}
    </Modal>
  );
};
