import { Button, Collapse, Grid, Group, Modal, Stack } from '@mantine/core';
import { RequestFailed } from '@rushhour/client';
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import { type FormEvent, type ReactNode, useState } from 'react';
import { text } from '../../lib/text.ts';
import { Problem } from '../problem.tsx';
import { type ObjectSchema, writableOf } from '../schema-form/schema.ts';
import { SchemaFields } from '../schema-form/schema-fields.tsx';
import { useToasts } from '../toasts.tsx';
import { type CreateFormProps, type Item, idOf, nameOf, operationsOf, type Resource, routeOf } from './resource.ts';

interface ResourceFormDialogProps extends CreateFormProps {
  resource: Resource;
  /** The record to change; a new one when left out. */
  item?: Item;
}

/** A form made from the schema of the operation; what the controller refuses is shown at the field it names. */
export const ResourceFormDialog = ({ resource, item, onClose, onSaved }: ResourceFormDialogProps) => {
  const body = routeOf(resource.name, item === undefined ? 'create' : 'update')?.body as unknown as ObjectSchema;
  const schema = { ...writableOf(body, resource.form), required: requiredOf(resource) };
  const more = { ...writableOf(body, resource.formMore ?? []), required: [] };
  const names = [...Object.keys(schema.properties), ...Object.keys(more.properties)];
  const [first] = useState<Item>(() => pick(item ?? {}, names));
  const [value, setValue] = useState(first);
  const { issues, stray, problem, isBusy, answer, submit } = useSubmit({
    resource,
    item,
    first,
    value,
    names,
    onClose,
    onSaved,
  });
  const fields = {
    value,
    onChange: setValue,
    issues,
    path: '',
    ...(resource.controls && { controls: resource.controls }),
  };
  if (answer !== undefined) {
    return (
      <Modal opened onClose={onClose} title={resource.title} closeOnClickOutside={false}>
        {answer}
      </Modal>
    );
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={item ? nameOf(item) : text.form.new(text.record[resource.name] ?? resource.title)}
      size={resource.formAside ? 'min(1100px, 100%)' : 'lg'}
      closeOnClickOutside={false}
    >
      <form ref={focusFirst} onSubmit={(event) => void submit(event)} noValidate>
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
        <Stack mt="md">
          {problem !== undefined && <Problem error={problem} />}
          {stray.length > 0 && <Problem error={stray.join('\n')} />}
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

interface Submission extends Omit<ResourceFormDialogProps, 'item'> {
  item: Item | undefined;
  first: Item;
  value: Item;
  names: readonly string[];
}

const useSubmit = ({ resource, item, first, value, names, onClose, onSaved }: Submission) => {
  const [issues, setIssues] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<ReactNode>();
  const toasts = useToasts();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setIssues({});
    setProblem(undefined);
    try {
      const operations = operationsOf(resource.name);
      const reply = await (item === undefined
        ? operations['create']?.({ body: value })
        : operations['update']?.({ body: patchOf(item, first, value) }));
      toasts.done(item === undefined ? text.table.created : text.table.saved);
      onSaved();
      if (item === undefined && resource.afterCreate) setAnswer(resource.afterCreate(reply));
      else onClose();
    } catch (error) {
      const found = error instanceof RequestFailed ? error.data.issues : undefined;
      if (found === undefined || found.length === 0) setProblem(error);
      else setIssues(Object.fromEntries(found.map(({ path, message }) => [path, message])));
    } finally {
      setBusy(false);
    }
  };
  const stray = Object.entries(issues)
    .filter(([path]) => !names.includes(path.split('/')[1] ?? ''))
    .map(([path, message]) => `${path} ${message}`);
  return { issues, stray, problem, isBusy, answer, submit };
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

/** An update requires nothing; the form says what a record cannot be without. */
const requiredOf = ({ name }: Resource) => (routeOf(name, 'create')?.body as unknown as ObjectSchema)?.required ?? [];

/** What was changed, `null` for what was emptied, and the version it was read in. */
const patchOf = (item: Item, first: Item, value: Item): Item => {
  const changed = Object.entries(value).filter(([name, next]) => JSON.stringify(next) !== JSON.stringify(first[name]));
  const emptied = Object.keys(first).filter((name) => !(name in value));
  return {
    ...Object.fromEntries(changed),
    ...Object.fromEntries(emptied.map((name) => [name, null])),
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

/** The dialog puts the focus where this attribute is, and not on its close button. */
const focusFirst = (form: HTMLFormElement | null) =>
  form?.querySelector('input, textarea')?.setAttribute('data-autofocus', '');
