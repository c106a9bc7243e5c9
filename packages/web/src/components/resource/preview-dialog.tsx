import { Button, Group, Modal, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense } from 'react';
import { text } from '../../lib/text.ts';
import { Problem } from '../problem.tsx';
import { type Item, idOf, loadItem, nameOf, type Resource } from './resource.ts';

interface PreviewDialogProps {
  resource: Resource;
  item: Item;
  onClose: () => void;
}

/** The details of a record over its list, so that the next one is a click away. */
export const PreviewDialog = ({ resource, item, onClose }: PreviewDialogProps) => {
  const { name } = resource;
  const id = idOf(item);
  const { data: whole, error } = useQuery({ queryKey: [name, 'item', id], queryFn: () => loadItem(name, id) });
  return (
    <Modal opened onClose={onClose} title={nameOf(item)} size="min(1000px, 100%)">
      <Stack>
        {error && <Problem error={error} />}
        {whole === undefined && !error && <Skeleton height={240} />}
        {whole && <Suspense fallback={<Skeleton height={240} />}>{resource.details?.(whole)}</Suspense>}
        <Group justify="flex-end">
          <Button variant="default" renderRoot={(props) => <Link {...props} to={`/resources/${name}/${id}`} />}>
            {text.table.open}
          </Button>
          {resource.actions?.([item], onClose)}
        </Group>
      </Stack>
    </Modal>
  );
};
