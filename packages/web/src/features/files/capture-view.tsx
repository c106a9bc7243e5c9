import { Alert, Card, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import type { PcapInfo } from '@rushhour/contract';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { SessionTable } from '../../components/capture/session-table.tsx';
import { StepList } from '../../components/capture/step-list.tsx';
import { EmptyState, Pages, Section } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { duration, howMany } from '../../lib/units.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';

const { capture: words } = text;
const rowsPerPage = 20;

/** The sessions of a capture and their payload. Page, search and open session are in the URL. */
export const CaptureView = ({ id }: { id: number }) => {
  const { page, text: read, number, push } = usePageSearch();
  const [find, open] = [read('find'), number('session')];
  const { data, error } = useQuery({
    queryKey: ['files', 'pcap', id, page, find],
    queryFn: async () => {
      const query = { page, count: rowsPerPage, ...(find !== undefined && { search: find }) };
      return (await client.files.pcap({ params: { id }, query })).data;
    },
    placeholderData: keepPreviousData,
  });
  const matches = data?.matches ?? [];
  return (
    <Stack>
      <Section title={words.sessions} aside={data && <Facts info={data} />}>
        <FindField value={find ?? ''} onChange={(next) => push({ find: next || undefined, page: undefined })} />
        {find !== undefined && data && <Text size="sm">{words.found(matches.length)}</Text>}
        {error && <Problem error={error} />}
        {!data && !error && <Skeleton height={160} />}
        {data?.warnings.map(({ code, message }) => (
          <Alert key={code} color="yellow" p="xs" mb="xs">
            {message}
          </Alert>
        ))}
        {data?.sessions.length === 0 && <EmptyState title={words.none} />}
        {data && data.sessions.length > 0 && (
          <SessionTable sessions={data.sessions} shown={open} onShow={(session) => push({ session })} />
        )}
        {data && find === undefined && (
          <Pages total={data.sessionCount / rowsPerPage} page={page} onPage={(next) => push({ page: next })} />
        )}
      </Section>
      {open !== undefined && (
        <Card withBorder padding="sm">
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

const Facts = ({ info: { packets, sessionCount, durationMs } }: { info: PcapInfo }) => (
  <Text size="sm" c="dimmed" className="numbers">
    {words.facts(howMany(packets), howMany(sessionCount), duration(durationMs * 1000))}
  </Text>
);

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
