import { Anchor, Text, TextInput } from '@mantine/core';
import type { Campaign } from '@rushhour/contract';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { SaveButton } from '../../components/buttons.tsx';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { ListPage } from '../../components/page.tsx';
import { client } from '../../lib/client.ts';
import { saveJson } from '../../lib/downloads.ts';
import { text } from '../../lib/text.ts';
import { clock } from '../../lib/units.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';
import { choiceLabelOf } from '../../texts/choices.ts';
import { CampaignDialog } from './campaign-dialog.tsx';

const { campaigns: words } = text;
const maxRows = 100;

const useCampaigns = (search: string | undefined, technique = '') => {
  const wanted = technique.toUpperCase();
  const query = {
    ...({ count: maxRows, key: 'name', order: 'asc', include: 'steps,layer' } as const),
    ...(search !== undefined && { search }),
    ...(/^T\d{4}(\.\d{3})?$/.test(wanted) && { technique: wanted }),
  };
  return useQuery({
    queryKey: ['compromisedHost', query],
    queryFn: () => client.compromisedHost.list({ query }),
    placeholderData: keepPreviousData,
  });
};

/** Built-in campaigns and those that came with imported tasks. Filters and the open campaign are in the URL. */
export const CampaignsPage = () => {
  const { text: read, number, set } = usePageSearch();
  const { data, error } = useCampaigns(read('search'), read('technique'));
  const layer = data?.layer;
  const open = data?.data.find(({ id }) => id === number('open'));
  return (
    <>
      <ListPage
        title={text.nav.campaigns}
        actions={layer && <SaveButton label={text.security.layer} onSave={() => saveJson(layer, 'layer.json')} />}
        hint={words.hint}
        filters={<Filters read={read} onChange={set} />}
        list={data}
        error={error}
        empty={text.table.noneFound}
      >
        {(rows) => <DataTable columns={columnsOf((id) => set({ open: id }))} rows={rows} keyOf={({ id }) => id} />}
      </ListPage>
      {open && <CampaignDialog campaign={open} onClose={() => set({ open: undefined })} />}
    </>
  );
};

interface FiltersProps {
  read: (name: string) => string | undefined;
  onChange: (members: Record<string, string | undefined>) => void;
}

const Filters = ({ read, onChange }: FiltersProps) => (
  <>
    <TextInput
      aria-label={text.table.search}
      placeholder={text.table.search}
      defaultValue={read('search') ?? ''}
      onChange={(event) => onChange({ search: event.currentTarget.value || undefined })}
    />
    <TextInput
      aria-label={text.security.technique}
      placeholder={words.findTechnique}
      defaultValue={read('technique') ?? ''}
      onChange={(event) => onChange({ technique: event.currentTarget.value || undefined })}
    />
  </>
);

const columnsOf = (onOpen: (id: number) => void): DataColumn<Campaign>[] => [
  {
    header: text.columns.name,
    cell: ({ id, name, description }) => (
      <>
        <Anchor component="button" type="button" ta="left" onClick={() => onOpen(id)}>
          {name}
        </Anchor>
        <Text size="xs" c="dimmed" visibleFrom="sm">
          {description}
        </Text>
      </>
    ),
  },
  { header: words.techniques, cell: ({ techniques }) => techniques.join(', ') },
  {
    header: words.protocols,
    cell: ({ protocols }) => protocols.map((one) => choiceLabelOf(one, 'protocol')).join(', '),
    isMinor: true,
  },
  {
    header: words.duration,
    cell: ({ estimatedMs }) => clock(estimatedMs / 1000),
    align: 'right',
    isMinor: true,
  },
];
