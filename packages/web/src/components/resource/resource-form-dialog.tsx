import { Button, Group, Modal, Stack } from '@mantine/core';
import { RequestFailed } from '@rushhour/client';
import { type FormEvent, useState } from 'react';
import { text } from '../../lib/text.ts';
import { type ObjectSchema, writableOf } from '../schema-form/schema.ts';
import { SchemaFields } from '../schema-form/schema-fields.tsx';
import { sentenceOf, useToasts } from '../toasts.tsx';
import { type Item, idOf, nameOf, operationsOf, type Resource, routeOf } from './resource.ts';

interface ResourceFormDialogProps {
  resource: Resource;
  /** The record to change; a new one when left out. */
  item?: Item;
  onClose: () => void;
  onSaved: () => void;
}

/** A form made from the schema of the operation; what the controller refuses is shown at the field it names. */
export const ResourceFormDialog = ({ resource, item, onClose, onSaved }: ResourceFormDialogProps) => {
  const schema = writableOf(
    routeOf(resource.name, item === undefined ? 'create' : 'update')?.body as unknown as ObjectSchema,
    resource.form,
  );
  const [value, setValue] = useState<Item>(() => pick(item ?? {}, Object.keys(schema.properties)));
  const [issues, setIssues] = useState<Record<string, string>>({});
  const [isBusy, setBusy] = useState(false);
  const toasts = useToasts();

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setIssues({});
    try {
      const operations = operationsOf(resource.name);
      if (item === undefined) await operations['create']?.({ body: value });
      else await operations['update']?.({ body: { ...value, [idKeyOf(item)]: idOf(item) } });
      toasts.done(item === undefined ? text.table.created : text.table.saved);
      onSaved();
      onClose();
    } catch (error) {
      const found = error instanceof RequestFailed ? error.data.issues : undefined;
      if (found === undefined || found.length === 0) toasts.problem(error);
      else setIssues(Object.fromEntries(found.map(({ path, message }) => [path, message])));
    } finally {
      setBusy(false);
    }
  };
  const stray = Object.entries(issues).filter(([path]) => !(path.split('/')[1] ?? '' in schema.properties));
  return (
    <Modal opened onClose={onClose} title={item ? nameOf(item) : `${text.table.create}: ${resource.title}`} size="lg">
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack>
          <SchemaFields schema={schema} value={value} onChange={setValue} issues={issues} path="" />
          {stray.length > 0 && (
            <div role="alert">{stray.map(([path, message]) => sentenceOf(`${path} ${message}`))}</div>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {text.table.cancel}
            </Button>
            <Button type="submit" loading={isBusy}>
              {text.table.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
};

const idKeyOf = (item: Item) => ('ID' in item ? 'ID' : 'id');
const pick = (item: Item, keys: readonly string[]): Item =>
  Object.fromEntries(
    keys.filter((key) => item[key] !== undefined && item[key] !== null).map((key) => [key, item[key]]),
  );
