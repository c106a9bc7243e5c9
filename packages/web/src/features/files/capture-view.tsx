import { Alert, Card, Group, Pagination, Skeleton, Stack, Text, TextInput, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { SessionTable } from '../../components/capture/session-table.tsx';
import { StepList } from '../../components/capture/step-list.tsx';
import { EmptyState } from '../../components/page-states.tsx';
import { Problem } from '../../components/problem.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { duration, howMany } from '../../lib/units.ts';

const { capture: words } = text;
const sessionsOnPage = 20;
type Search = Record<string, string | number | undefined>;

/** The sessions of a capture and what they say. Page, search and open session stand in the address. */
export const CaptureView = ({ id }: { id: number }) => {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const show = (members: Search) => void navigate({ to: '.', search: { ...search, ...members } as never });
  const page = Number(search['page'] ?? 1);
  const wanted = search['find'] === undefined ? undefined : String(search['find']);
  const open = search['session'] === undefined ? undefined : Number(search['session']);
  const { data, error } = useQuery({
    queryKey: ['files', 'pcap', id, page, wanted],
    queryFn: async () => {
      const query = { page, count: sessionsOnPage, ...(wanted !== undefined && { search: wanted }) };
      return (await client.files.pcap({ params: { id }, query })).data;
    },
    placeholderData: keepPreviousData,
  });
  const matches = data?.matches ?? [];
  return (
    <Stack>
      <Card withBorder>
        <Group justify="space-between" mb="xs">
          <Title order={2} size="h5">
            {words.sessions}
          </Title>
          {data && (
            <Text size="sm" c="dimmed" className="numbers">
              {words.facts(howMany(data.packets), howMany(data.sessionCount), duration(data.durationMs * 1000))}
            </Text>
          )}
        </Group>
        <FindField value={wanted ?? ''} onChange={(next) => show({ find: next || undefined, page: undefined })} />
        {wanted !== undefined && data && <Text size="sm">{words.found(matches.length)}</Text>}
        {error && <Problem error={error} />}
        {!data && !error && <Skeleton height={160} />}
        {data?.warnings.map(({ code, message }) => (
          <Alert key={code} color="yellow" p="xs" mb="xs">
            {message}
          </Alert>
        ))}
        {data?.sessions.length === 0 && <EmptyState title={words.none} />}
        {data && data.sessions.length > 0 && (
          <SessionTable sessions={data.sessions} shown={open} onShow={(session) => show({ session })} />
        )}
        {data && data.sessionCount > sessionsOnPage && wanted === undefined && (
          <Pagination
            mt="xs"
            total={Math.ceil(data.sessionCount / sessionsOnPage)}
            value={page}
            onChange={(next) => show({ page: next })}
            getControlProps={(control) => ({ 'aria-label': control })}
          />
        )}
      </Card>
      {open !== undefined && (
        <Card withBorder>
          <StepList
            fileId={id}
            sessionIdx={open}
            marksOf={({ sessionIdx, stepIdx }) =>
              matches
                .filter((match) => match.sessionIdx === sessionIdx && match.stepIdx === stepIdx)
                .map((match) => ({ ...match, label: words.match }))
            }
          />
        </Card>
      )}
    </Stack>
  );
};

const FindField = ({ value, onChange }: { value: string; onChange: (value: string) => void }) => {
  const [typed, setTyped] = useState(value);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onChange(typed);
      }}
    >
      <TextInput
        data-search
        mb="xs"
        aria-label={words.find}
        placeholder={words.find}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </form>
  );
};
