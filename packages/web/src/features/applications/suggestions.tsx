import { Button, Card, Group, Stack, Text } from '@mantine/core';
import { IconBulb } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import type { ParameterDraft } from './parameter.ts';

const { applications: words } = text;

interface SuggestionsProps {
  applicationId: number;
  onApply: (parameter: ParameterDraft) => Promise<void>;
}

/** Parameters that the controller suggests; none is applied automatically. */
export const Suggestions = ({ applicationId, onApply }: SuggestionsProps) => {
  const toasts = useToasts();
  const ask = useMutation({
    mutationFn: async () =>
      (await client.applications.analyze({ body: { id: applicationId, options: { suggest: true } } })).data.suggestions,
    onError: (error) => toasts.problem(error),
  });
  return (
    <div>
      <Button
        variant="default"
        leftSection={<IconBulb size={16} />}
        loading={ask.isPending}
        onClick={() => ask.mutate()}
      >
        {words.suggest}
      </Button>
      {ask.data && (
        <Card withBorder mt="xs">
          {ask.data.length === 0 && <Text size="sm">{words.noSuggestions}</Text>}
          <Stack gap="xs">
            {ask.data.map(({ confidence, reason, ...parameter }) => (
              <Group key={parameter.name} justify="space-between" wrap="nowrap">
                <div>
                  <Text size="sm" fw={500}>
                    {parameter.name} · {words.confidence(confidence)} ·{' '}
                    {words.positions(parameter.stepsMappings.length)}
                  </Text>
                  <Text size="xs" c="dimmed">
                    {reason}
                  </Text>
                </div>
                <Button
                  size="xs"
                  variant="light"
                  aria-label={words.applyOne(parameter.name)}
                  onClick={() => void onApply(parameter).catch(toasts.problem)}
                >
                  {words.apply}
                </Button>
              </Group>
            ))}
          </Stack>
        </Card>
      )}
    </div>
  );
};
