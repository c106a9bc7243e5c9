import { Group, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { TaskTemplate } from '@rushhour/contract';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { EstimateText } from '../../components/estimate-text.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { filledTask } from './filled-task.ts';
import type { NewTestForm } from './new-test-form.ts';

const typingMs = 400;

/** Length and load of the test, as the controller reckons them. */
export const EstimateLine = ({ template, form }: { template: TaskTemplate; form: NewTestForm }) => {
  const [settled] = useDebouncedValue(form, typingMs);
  const body = filledTask(template, settled);
  const { data } = useQuery({
    queryKey: ['tasks', 'validate', 'new test', JSON.stringify(body)],
    queryFn: async () => (await client.tasks.validate({ body })).data,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 60_000,
  });
  if (data === undefined) return null;
  return (
    <Group gap="xs" role="status">
      <Text size="sm" c="dimmed">
        {text.newTest.estimate}
      </Text>
      <EstimateText estimate={data.estimate} />
    </Group>
  );
};
