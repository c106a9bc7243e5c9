import { Alert, Anchor, Card, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Explanation } from '../../components/explanation.tsx';
import { client } from '../../lib/client.ts';
import { fieldName } from '../../lib/issues.ts';
import { text } from '../../lib/text.ts';
import { howMany } from '../../lib/units.ts';
import { AddressTable } from './address-table.tsx';

const { networks: words } = text;
const typingMs = 300;
const maxShown = 12;

type Draft = Parameters<typeof client.networks.preview>[0]['body'];

const preview = async (draft: Draft) => {
  const [page, check] = await Promise.all([
    client.networks.preview({ query: { limit: maxShown }, body: draft }),
    client.networks.validate({ body: draft }),
  ]);
  return { page, check: check.data };
};

/** Addresses and validation issues of a network, updated while it is edited. */
export const NetworkPreview = ({ value, id }: { value: Record<string, unknown>; id?: number | undefined }) => {
  const [draft] = useDebouncedValue(JSON.stringify({ ...value, ...(id !== undefined && { id }) }), typingMs);
  const hasSubnet = typeof value['subnet'] === 'string' && value['subnet'] !== '';
  const { data, error, isFetching } = useQuery({
    queryKey: ['networks', 'preview', draft],
    queryFn: () => preview(JSON.parse(draft) as Draft),
    enabled: hasSubnet && draft.includes('"subnet"'),
    placeholderData: keepPreviousData,
    retry: false,
  });
  return (
    <Card withBorder component="section" aria-label={words.preview}>
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h5">
          {words.preview}
        </Title>
        {isFetching && <Loader size="xs" aria-label={words.loading} />}
      </Group>
      {!hasSubnet && (
        <Text size="sm" c="dimmed">
          {words.typeSubnet}
        </Text>
      )}
      {hasSubnet && error && (
        <Alert color="yellow" title={words.incomplete} style={{ whiteSpace: 'pre-line' }}>
          <Explanation error={error} />
        </Alert>
      )}
      {hasSubnet && !error && data && <Result {...data} />}
    </Card>
  );
};

const Result = ({ page, check }: Awaited<ReturnType<typeof preview>>) => (
  <Stack gap="xs">
    <Text size="sm" className="numbers">
      {words.usable(howMany(check.usable), howMany(check.size))}
    </Text>
    {check.issues.map(({ path, message, severity, networkID }) => (
      <Alert key={`${path} ${message}`} color={severity === 'error' ? 'red' : 'yellow'} p="xs">
        {path && `${fieldName(path)}: `}
        {message}{' '}
        {networkID !== undefined && (
          <Anchor renderRoot={(props) => <Link {...props} to={`/resources/networks/${networkID}`} />}>
            {words.openOther}
          </Anchor>
        )}
      </Alert>
    ))}
    <AddressTable rows={page.rows} />
    {page.nextStart !== null && (
      <Text size="xs" c="dimmed">
        {words.andMore(howMany(page.totalRows - page.rows.length))}
      </Text>
    )}
  </Stack>
);
