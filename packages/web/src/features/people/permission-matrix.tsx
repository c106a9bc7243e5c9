import { Checkbox, Table, Text } from '@mantine/core';
import { permissions } from '@rushhour/contract';
import { IconCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { areaNameOf, verbNameOf } from '../../lib/permission-names.ts';
import { useSession } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

const { people: words } = text;
const administrator = permissions['system.admin'];

const pairs = Object.entries(permissions).map(([name, value]) => {
  const [area = '', verb = ''] = name.split('.');
  return { area, verb, value };
});
const areas = [...new Set(pairs.map(({ area }) => area))].filter((area) => area !== 'system');
const commonVerbs = ['read', 'write', 'execute'];

interface PermissionMatrixProps {
  value: readonly { value: number }[];
  /** Left out where the matrix is read-only. */
  onChange?: (value: { value: number }[]) => void;
}

/** Permissions by resource and verb. Users can grant only permissions they have themselves. */
export const PermissionMatrix = ({ value, onChange }: PermissionMatrixProps) => {
  const { data: me } = useSession();
  const held = new Set(value.map((one) => one.value));
  const mine = new Set(me?.permissions ?? []);
  const mayGrant = (permission: number) => mine.has(administrator) || mine.has(permission);
  const has = (permission: number) => held.has(permission) || held.has(administrator);
  const toggle = (permission: number) =>
    onChange?.(
      held.has(permission) ? value.filter((one) => one.value !== permission) : [...value, { value: permission }],
    );
  const box: Box = (permission, label, isShown = false) =>
    onChange === undefined ? (
      <Held key={permission} isHeld={has(permission)} label={label} isShown={isShown} />
    ) : (
      <Checkbox
        key={permission}
        {...(isShown ? { label: label.split(': ')[1] } : {})}
        aria-label={label}
        checked={has(permission)}
        disabled={!mayGrant(permission) || (held.has(administrator) && permission !== administrator)}
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
              {commonVerbs.map((verb) => (
                <Table.Th key={verb}>{verbNameOf(verb)}</Table.Th>
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

type Box = (permission: number, label: string, isShown?: boolean) => ReactNode;

/** A permission in a read-only matrix. */
const Held = ({ isHeld, label, isShown }: { isHeld: boolean; label: string; isShown: boolean }) => {
  if (!isHeld) return null;
  return isShown ? (
    <Text size="sm">{label.split(': ')[1]}</Text>
  ) : (
    <IconCheck size={18} role="img" aria-label={label} color="var(--mantine-color-teal-6)" />
  );
};

interface AreaRowProps {
  area: string;
  box: Box;
}

const AreaRow = ({ area, box }: AreaRowProps) => {
  const title = areaNameOf(area);
  const own = pairs.filter((pair) => pair.area === area);
  const cellOf = (verb: string) => {
    const pair = own.find((one) => one.verb === verb);
    return pair && box(pair.value, `${title}: ${verbNameOf(verb)}`);
  };
  return (
    <Table.Tr>
      <Table.Th fw={500}>{title}</Table.Th>
      {commonVerbs.map((verb) => (
        <Table.Td key={verb}>{cellOf(verb)}</Table.Td>
      ))}
      <Table.Td>
        {own
          .filter(({ verb }) => !commonVerbs.includes(verb))
          .map(({ value, verb }) => box(value, `${title}: ${verbNameOf(verb)}`, true))}
      </Table.Td>
    </Table.Tr>
  );
};
