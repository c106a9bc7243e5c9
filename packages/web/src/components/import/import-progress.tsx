import { Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';

const pollMs = 1000;

/** How far a long import is, as the controller notifies of it. */
export const ImportProgress = () => {
  const [since] = useState(() => Date.now());
  const { data } = useQuery({
    queryKey: ['notifications', 'progress', since],
    queryFn: async () => (await client.notifications.list({ query: { count: 5 } })).data,
    refetchInterval: pollMs,
  });
  const told = data?.find(({ kind, createdAt }) => kind.endsWith('.progress') && Date.parse(createdAt) >= since);
  return (
    <Stack gap={4}>
      <Progress value={100} animated aria-label={text.imports.running} />
      <Text size="sm" role="status">
        {told?.message ?? text.imports.running}
      </Text>
    </Stack>
  );
};
