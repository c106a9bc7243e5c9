import { Alert, Button, Card, Modal, Select, Stack, Text, useMatches } from '@mantine/core';
import type { TriedExchange } from '@rushhour/contract';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ExchangeList } from '../../../components/exchange-list.tsx';
import { Problem } from '../../../components/problem.tsx';
import { client } from '../../../lib/client.ts';
import { useMay } from '../../../lib/session.ts';
import { text } from '../../../lib/text.ts';
import { draftOf, type TaskForm } from './task-form.ts';
import { triableJourneys } from './try-journeys.ts';

const { try: words } = text.editor;

interface TryPanelProps {
  form: TaskForm;
  /** Of the stored task, whose masked secrets are used. */
  taskId: number | undefined;
}

/** Runs a journey of the editor once and shows requests, answers and variables. */
export const TryPanel = ({ form, taskId }: TryPanelProps) => {
  const may = useMay();
  const journeys = triableJourneys(form.configuration);
  const [key, setKey] = useState<string | null>(null);
  const [step, setStep] = useState<string | null>(null);
  const [isShown, setShown] = useState(false);
  const journey = journeys.find((one) => one.key === key) ?? journeys[0];
  const tried = useMutation({
    mutationFn: async () => {
      const { configuration, accessPlane = [], controlPlane = [] } = draftOf(form);
      const position = { index: journey?.index ?? 0, journey: journey?.journey ?? 0 };
      const body = { ...position, configuration, accessPlane, controlPlane };
      const until = step === null ? {} : { step: Number(step) };
      return (await client.tasks.try({ body: { ...body, ...until, ...(taskId !== undefined && { id: taskId }) } }))
        .data;
    },
    onSuccess: () => setShown(true),
  });
  if (journey === undefined || !may('tasks', 'try')) return null;
  return (
    <Card withBorder>
      <Stack gap="xs">
        <Text fw={600}>{words.title}</Text>
        {journeys.length > 1 && (
          <Select
            label={words.journey}
            data={journeys.map((one) => ({ value: one.key, label: one.name }))}
            value={journey.key}
            onChange={(chosen) => {
              setKey(chosen);
              setStep(null);
            }}
            allowDeselect={false}
          />
        )}
        <Select
          label={words.lastStep}
          placeholder={words.allSteps}
          data={journey.steps.map((name, at) => ({ value: String(at), label: name }))}
          value={step}
          onChange={setStep}
          clearable
        />
        <Text size="xs" c="dimmed">
          {words.help}
        </Text>
        {tried.error && <Problem error={tried.error} />}
        <Button variant="default" loading={tried.isPending} onClick={() => tried.mutate()}>
          {words.run}
        </Button>
      </Stack>
      {tried.data && (
        <TryResult name={journey.name} tried={tried.data} isShown={isShown} onClose={() => setShown(false)} />
      )}
    </Card>
  );
};

interface TryResultProps {
  name: string;
  tried: { readonly error: string; readonly exchanges: readonly TriedExchange[] };
  isShown: boolean;
  onClose: () => void;
}

const TryResult = ({ name, tried: { error, exchanges }, isShown, onClose }: TryResultProps) => {
  const isPhone = useMatches({ base: true, sm: false });
  return (
    <Modal opened={isShown} onClose={onClose} title={words.result(name)} size="90%" fullScreen={isPhone}>
      <Stack>
        {error !== '' && <Alert color="red">{error}</Alert>}
        {exchanges.length === 0 && <Text>{words.none}</Text>}
        <ExchangeList exchanges={exchanges} showsFailed />
      </Stack>
    </Modal>
  );
};
