import { Button, Group, Skeleton, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import type { Campaign } from '@rushhour/contract';
import { IconDownload } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { EmptyState, Guarded } from '../../components/page-states.tsx';
import { Problem } from '../../components/problem.tsx';
import { client } from '../../lib/client.ts';
import { saveAs } from '../../lib/save-as.ts';
import { text } from '../../lib/text.ts';
import { clock } from '../../lib/units.ts';
import { CampaignSteps } from './campaign-steps.tsx';

const { campaigns: words } = text;
const most = 100;

type Search = Record<string, string | number | boolean | undefined>;

/** What is shipped and what came with imported tasks; filters and the open campaign stand in the address. */
export const CampaignsPage = () => (
  <Guarded needs={['compromisedHost', 'list']}>
    <Campaigns />
  </Guarded>
);

const useCampaigns = (search: Search) => {
  const technique = String(search['technique'] ?? '').toUpperCase();
  const query = {
    ...({ count: most, key: 'name', order: 'asc', include: 'steps,layer' } as const),
    ...(search['search'] !== undefined && { search: String(search['search']) }),
    ...(/^T\d{4}(\.\d{3})?$/.test(technique) && { technique }),
  };
  return useQuery({
    queryKey: ['compromisedHost', query],
    queryFn: () => client.compromisedHost.list({ query }),
    placeholderData: keepPreviousData,
  });
};

const Campaigns = () => {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const { data, error } = useCampaigns(search);
  const set = (members: Search) =>
    void navigate({ to: '.', search: { ...search, ...members } as never, replace: true });
  const open = data?.data.find(({ id }) => id === Number(search['open'] ?? 0));
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          {text.nav.campaigns}
        </Title>
        {data?.layer && (
          <Button
            variant="default"
            leftSection={<IconDownload size={16} />}
            onClick={() => saveAs(new Blob([JSON.stringify(data.layer)], { type: 'application/json' }), 'layer.json')}
          >
            {text.security.layer}
          </Button>
        )}
      </Group>
      <Text size="sm">{words.hint}</Text>
      <Group>
        <TextInput
          aria-label={text.table.search}
          placeholder={text.table.search}
          defaultValue={String(search['search'] ?? '')}
          onChange={(event) => set({ search: event.currentTarget.value || undefined })}
        />
        <TextInput
          aria-label={text.security.technique}
          placeholder={words.technique}
          defaultValue={String(search['technique'] ?? '')}
          onChange={(event) => set({ technique: event.currentTarget.value || undefined })}
        />
      </Group>
      {error && <Problem error={error} />}
      {data === undefined && !error && <Skeleton height={240} />}
      {data?.data.length === 0 && <EmptyState title={text.table.noneFound} />}
      {data !== undefined && data.data.length > 0 && (
        <CampaignTable campaigns={data.data} onOpen={(id) => set({ open: id })} />
      )}
      {open && <CampaignSteps campaign={open} onClose={() => set({ open: undefined })} />}
    </Stack>
  );
};

const CampaignTable = ({ campaigns, onOpen }: { campaigns: readonly Campaign[]; onOpen: (id: number) => void }) => (
  <Table.ScrollContainer minWidth={320} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
    <Table highlightOnHover className="numbers" verticalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{text.columns.name}</Table.Th>
          <Table.Th>{words.techniques}</Table.Th>
          <Table.Th visibleFrom="sm">{words.protocols}</Table.Th>
          <Table.Th visibleFrom="sm" ta="right">
            {words.duration}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {campaigns.map(({ id, name, description, techniques, protocols, estimatedMs }) => (
          <Table.Tr key={id}>
            <Table.Td>
              <Button variant="transparent" size="compact-sm" px={0} onClick={() => onOpen(id)}>
                {name}
              </Button>
              <Text size="xs" c="dimmed" visibleFrom="sm">
                {description}
              </Text>
            </Table.Td>
            <Table.Td>{techniques.join(', ')}</Table.Td>
            <Table.Td visibleFrom="sm">{protocols.join(', ')}</Table.Td>
            <Table.Td visibleFrom="sm" ta="right">
              {clock(estimatedMs / 1000)}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);
