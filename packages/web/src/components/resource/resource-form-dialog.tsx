import { Button, Collapse, Grid, Modal, Stack } from '@mantine/core';
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { fieldName, type Issues, issuesIn } from '../../lib/issues.ts';
import { text } from '../../lib/text.ts';
import { FormDialog } from '../dialogs.tsx';
import { type ObjectSchema, writableOf } from '../schema-form/schema.ts';
import { SchemaFields } from '../schema-form/schema-fields.tsx';
import { useToasts } from '../toasts.tsx';
import { type CreateFormProps, type Item, idOf, nameOf, operationsOf, type Resource, routeOf } from './resource.ts';

interface ResourceFormDialogProps extends CreateFormProps {
  resource: Resource;
  /** The record to change; a new one when left out. */
  item?: Item;
}

/** A form generated from the schema of the operation. Issues that the controller reports are shown at their fields. */
export const ResourceFormDialog = ({ resource, item, onClose, onSaved }: ResourceFormDialogProps) => {
  const { schema, more, names } = schemasOf(resource, item);
  const [first] = useState<Item>(() => pick(item ?? {}, names));
  const [value, setValue] = useState(first);
  const save = useSave({ resource, item, onClose, onSaved });
  const issues = issuesIn(save.error);
  const fields = {
    value,
    onChange: setValue,
    issues,
    path: '',
    ...(resource.controls && { controls: resource.controls }),
  };
  if (save.data !== undefined) {
    return (
      <Modal opened onClose={onClose} title={resource.title} closeOnClickOutside={false}>
        {save.data}
      </Modal>
    );
  }
  return (
    <FormDialog
      title={item ? nameOf(item) : text.form.new(text.record[resource.name] ?? resource.title)}
      size={resource.formAside ? 'min(1100px, 100%)' : 'lg'}
      onClose={onClose}
      onSubmit={() => save.mutate(item === undefined ? value : patchOf(item, first, value))}
      error={problemOf(save.error, issues, names)}
      isBusy={save.isPending}
    >
      <Grid>
        <Grid.Col span={{ base: 12, md: resource.formAside ? 6 : 12 }}>
          <Stack>
            <SchemaFields schema={schema} {...fields} />
            {Object.keys(more.properties).length > 0 && (
              <Folded isForced={Object.keys(more.properties).some((name) => `/${name}` in issues)}>
                <SchemaFields schema={more} {...fields} />
              </Folded>
            )}
          </Stack>
        </Grid.Col>
        {resource.formAside && <Grid.Col span={{ base: 12, md: 6 }}>{resource.formAside(value, item)}</Grid.Col>}
      </Grid>
    </FormDialog>
  );
};

const schemasOf = (resource: Resource, item: Item | undefined) => {
  const body = routeOf(resource.name, item === undefined ? 'create' : 'update')?.body as unknown as ObjectSchema;
  const schema = { ...writableOf(body, resource.form), required: requiredOf(resource) };
  const more = { ...writableOf(body, resource.formMore ?? []), required: [] };
  return { schema, more, names: [...Object.keys(schema.properties), ...Object.keys(more.properties)] };
};

/** An update requires no member; the form still marks those a record must have. */
const requiredOf = ({ name }: Resource) => (routeOf(name, 'create')?.body as unknown as ObjectSchema)?.required ?? [];

/** Errors that no field shows: those without issues, and issues at members without a field. */
const problemOf = (error: unknown, issues: Issues, names: readonly string[]) => {
  if (Object.keys(issues).length === 0) return error;
  const stray = Object.entries(issues).filter(([path]) => !names.includes(path.split('/')[1] ?? ''));
  return stray.length === 0 ? undefined : stray.map(([path, message]) => `${fieldName(path)}: ${message}`).join('\n');
};

const useSave = ({
  resource,
  item,
  onClose,
  onSaved,
}: CreateFormProps & { resource: Resource; item: Item | undefined }) => {
  const toasts = useToasts();
  const isNew = item === undefined;
  return useMutation({
    mutationFn: async (body: Item): Promise<ReactNode> => {
      const reply = await operationsOf(resource.name)[isNew ? 'create' : 'update']?.({ body });
      return isNew ? resource.afterCreate?.(reply) : undefined;
    },
    onSuccess: (answer) => {
      toasts.done(isNew ? text.table.created : text.table.saved);
      onSaved();
      if (answer === undefined) onClose();
    },
  });
};

const Folded = ({ isForced, children }: { isForced: boolean; children: ReactNode }) => {
  const [isOpen, setOpen] = useState(false);
  const isShown = isOpen || isForced;
  const Arrow = isShown ? IconChevronUp : IconChevronDown;
  return (
    <div>
      <Button
        variant="subtle"
        leftSection={<Arrow size={16} />}
        aria-expanded={isShown}
        onClick={() => setOpen(!isOpen)}
      >
        {text.form.more}
      </Button>
      <Collapse expanded={isShown} pt="sm">
        {children}
      </Collapse>
    </div>
  );
};

/** Changed members, `null` for cleared ones, and the version the form was opened with. */
const patchOf = (item: Item, first: Item, value: Item): Item => {
  const changed = Object.entries(value).filter(([name, next]) => JSON.stringify(next) !== JSON.stringify(first[name]));
  const cleared = Object.keys(first).filter((name) => !(name in value));
  return {
    ...Object.fromEntries(changed),
    ...Object.fromEntries(cleared.map((name) => [name, null])),
    ...(item['updatedAt'] !== undefined && { updatedAt: item['updatedAt'] }),
    ['ID' in item ? 'ID' : 'id']: idOf(item),
  };
};

const pick = (item: Item, keys: readonly string[]): Item =>
  Object.fromEntries(
    keys
      .filter((key) => item[key] !== undefined && item[key] !== null && item[key] !== '')
      .map((key) => [key, item[key]]),
  );
