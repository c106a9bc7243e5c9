import { Checkbox, Table, Text } from '@mantine/core';
import { permissions } from '@rushhour/contract';
import { labelOf } from '../../components/schema-form/schema.ts';
import { useSession } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

const { people: words } = text;
const administrator = permissions['system.admin'];

const pairs = Object.entries(permissions).map(([name, value]) => {
  const [area = '', verb = ''] = name.split('.');
  return { area, verb, value };
});
const areas = [...new Set(pairs.map(({ area }) => area))].filter((area) => area !== 'system');
const usual = ['read', 'write', 'execute'];

interface PermissionMatrixProps {
  value: readonly { value: number }[];
  /** Left out where nothing can be changed. */
  onChange?: (value: { value: number }[]) => void;
}

/** Who may do what: a row for each collection, a column for each verb. Nobody can give what they do not hold. */
export const PermissionMatrix = ({ value, onChange }: PermissionMatrixProps) => {
  const { data: me } = useSession();
  const held = new Set(value.map((one) => one.value));
  const mine = new Set(me?.permissions ?? []);
  const mayGive = (permission: number) => mine.has(administrator) || mine.has(permission);
  const toggle = (permission: number) =>
    onChange?.(
      held.has(permission) ? value.filter((one) => one.value !== permission) : [...value, { value: permission }],
    );
  const box = (permission: number, label: string, isShown = false) => (
    <Checkbox
      key={permission}
      {...(isShown ? { label: label.split(': ')[1] } : {})}
      aria-label={label}
      checked={held.has(permission) || held.has(administrator)}
      disabled={
        onChange === undefined || !mayGive(permission) || (held.has(administrator) && permission !== administrator)
      }
      onChange={() => toggle(permission)}
    />
  );
  return (
    <div>
      {box(administrator, `${words.system}: ${words.everything}`, true)}
      <Text size="xs" c="dimmed" mb="xs">
        {words.everythingHelp}
      </Text>
      <Table.ScrollContainer minWidth={320} tabIndex={0}>
        <Table verticalSpacing={4} stickyHeader aria-label={words.matrix}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.area}</Table.Th>
              {usual.map((verb) => (
                <Table.Th key={verb}>{words.verbs[verb]}</Table.Th>
              ))}
              <Table.Th>{words.others}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {areas.map((area) => (
              <AreaRow key={area} area={area} box={box} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </div>
  );
};

interface AreaRowProps {
  area: string;
  box: (permission: number, label: string, isShown?: boolean) => React.ReactNode;
}

const AreaRow = ({ area, box }: AreaRowProps) => {
  const own = pairs.filter((pair) => pair.area === area);
  const cellOf = (verb: string) => {
    const pair = own.find((one) => one.verb === verb);
    return pair && box(pair.value, `${labelOf(area)}: ${words.verbs[verb] ?? labelOf(verb)}`);
  };
  return (
    <Table.Tr>
      <Table.Th fw={500}>{labelOf(area)}</Table.Th>
      {usual.map((verb) => (
        <Table.Td key={verb}>{cellOf(verb)}</Table.Td>
      ))}
      <Table.Td>
        {own
          .filter(({ verb }) => !usual.includes(verb))
          .map(({ value, verb }) => box(value, `${labelOf(area)}: ${words.verbs[verb] ?? labelOf(verb)}`, true))}
      </Table.Td>
    </Table.Tr>
  );
};
