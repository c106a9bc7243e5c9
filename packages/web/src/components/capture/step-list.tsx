import { Badge, Card, Group, SegmentedControl, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { PcapInfo } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { bytes as bytesText, duration } from '../../lib/units.ts';
import { Problem } from '../problem.tsx';
import { bytesFromBase64, type Mark } from './byte-lines.ts';
import { StepBytes } from './step-bytes.tsx';

const { capture: words } = text;
const bytesShown = 4096;
export type Step = PcapInfo['sessions'][number]['steps'][number];

/** Bytes of a step. */
export interface Range {
  readonly offset: number;
  readonly length: number;
}

interface StepListProps {
  fileId: number;
  sessionIdx: number;
  marksOf?: (step: Step) => readonly Mark[];
  onMark?: (step: Step, range: Range, bytes: Uint8Array) => void;
  /** Shown at the top right of a step. */
  action?: (step: Step, bytes: Uint8Array) => ReactNode;
}

/** The payload of both sides of a session, step by step, as text or as hexadecimal. */
export const StepList = ({ fileId, sessionIdx, ...steps }: StepListProps) => {
  const [form, setForm] = useState<'text' | 'hex'>('text');
  const { data, error } = useQuery({
    queryKey: ['files', 'steps', fileId, sessionIdx],
    queryFn: async () => {
      const query = { sessionIdx: [sessionIdx], steps: true, length: bytesShown };
      return (await client.files.pcap({ params: { id: fileId }, query })).data.sessions[0];
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error) return <Problem error={error} />;
  if (data === undefined) return <Skeleton height={200} />;
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={3} size="h5">
          {data.name}
        </Title>
        <SegmentedControl
          size="xs"
          value={form}
          onChange={(next) => setForm(next as typeof form)}
          data={[
            { value: 'text', label: words.text },
            { value: 'hex', label: words.hex },
          ]}
        />
      </Group>
      {data.steps.length === 0 && <Text c="dimmed">{words.noSteps}</Text>}
      {data.steps.map((step) => (
        <StepCard key={step.stepIdx} step={step} form={form} {...steps} />
      ))}
    </Stack>
  );
};

interface StepCardProps extends Pick<StepListProps, 'marksOf' | 'onMark' | 'action'> {
  step: Step;
  form: 'text' | 'hex';
}

const StepCard = ({ step, form, marksOf, onMark, action }: StepCardProps) => {
  const bytes = bytesFromBase64(step.data);
  const isClient = step.side === 'client';
  return (
    <Card withBorder padding="xs" ml={isClient ? 0 : { base: 8, sm: 40 }} mr={isClient ? { base: 8, sm: 40 } : 0}>
      <Group justify="space-between" mb={4}>
        <Group gap="xs">
          <Badge variant="light" color={isClient ? 'blue' : 'grape'} tt="none">
            {isClient ? words.client : words.server}
          </Badge>
          <Text size="xs" c="dimmed" className="numbers">
            {words.step(step.stepIdx)} · {bytesText(step.length)} · {duration(step.relTimeMs * 1000)}
          </Text>
        </Group>
        {action?.(step, bytes)}
      </Group>
      <StepBytes
        label={words.bytesOf(step.stepIdx)}
        bytes={bytes}
        length={step.length}
        form={form}
        {...(marksOf && { marks: marksOf(step) })}
        {...(onMark && { onMark: (range) => onMark(step, range, bytes) })}
      />
    </Card>
  );
};
