import { Anchor, List, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { text } from '../../lib/text.ts';

export interface Reference {
  kind: string;
  id: number;
  name: string;
}

const collections: Readonly<Record<string, string>> = {
  agent: 'agents',
  task: 'tasks',
  template: 'taskTemplates',
  application: 'applications',
  network: 'networks',
  mac: 'macs',
  tunnel: 'tunnels',
  certificate: 'certificates',
  dictionary: 'dictionaries',
  file: 'files',
  project: 'projects',
  user: 'users',
  group: 'groups',
};

const urlOf = ({ kind, id }: Reference) => {
  if (kind === 'task') return `/tasks/${id}`;
  const collection = collections[kind];
  return collection === undefined ? undefined : `/resources/${collection}/${id}`;
};

const kindText = (kind: string) => {
  const record = text.record[collections[kind] ?? ''] ?? kind;
  return record.charAt(0).toUpperCase() + record.slice(1);
};

/** Links to the records that use another. */
export const ReferenceList = ({ references, total }: { references: readonly Reference[]; total?: number }) => (
  <List size="sm">
    {references.map((reference) => {
      const to = urlOf(reference);
      const name = reference.name || `#${reference.id}`;
      return (
        <List.Item key={`${reference.kind} ${reference.id}`}>
          {kindText(reference.kind)}{' '}
          {to === undefined ? name : <Anchor renderRoot={(props) => <Link {...props} to={to} />}>{name}</Anchor>}
        </List.Item>
      );
    })}
    {total !== undefined && total > references.length && (
      <List.Item>
        <Text size="sm" c="dimmed">
          {text.usage.more(total - references.length)}
        </Text>
      </List.Item>
    )}
  </List>
);
