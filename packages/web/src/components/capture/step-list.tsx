import { Badge, Card, Code, Group, SegmentedControl, Skeleton, Stack, Text, Title, Tooltip } from '@mantine/core';
import type { PcapInfo } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useRef, useState } from 'react';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { bytes as bytesText, duration } from '../../lib/units.ts';
import { Problem } from '../problem.tsx';
import { bytesBetween, bytesFromBase64, linesOf, type Mark } from './byte-lines.ts';
import classes from './step-bytes.module.css';

interface StepBytesProps {
  label: string;
  bytes: Uint8Array;
  /** Length of the whole step; `bytes` may be only its beginning. */
  length: number;
  form: 'text' | 'hex';
  marks?: readonly Mark[];
  /** Called with the bytes that the user selected. */
  onMark?: (range: { offset: number; length: number }) => void;
}

/** The payload of a step. The text contains nothing else, so that positions in a selection are positions in the bytes. */
const StepBytes = ({ label, bytes, length, form, marks = [], onMark }: StepBytesProps) => {
  const box = useRef<HTMLElement>(null);
  const report = () => {
    const range = box.current && selectedIn(box.current, form);
    if (range && range.length > 0) onMark?.(range);
  };
  return (
    <>
      <Code
        block
        ref={box as never}
        className={classes['bytes'] ?? ''}
        tabIndex={0}
        aria-label={label}
        role="group"
        onMouseUp={report}
        onKeyUp={(event) => event.shiftKey && report()}
      >
        {linesOf(bytes, marks, form).map(({ start, segments }) => (
          <div key={start}>
            {segments.map(({ start: at, text: content, mark }) =>
              mark ? (
                <Tooltip key={at} label={mark.label}>
                  <mark>{content}</mark>
                </Tooltip>
              ) : (
                <span key={at}>{content}</span>
              ),
            )}
          </div>
        ))}
      </Code>
      {length > bytes.length && (
        <Text size="xs" c="dimmed">
          {text.capture.notShown(length - bytes.length)}
        </Text>
      )}
    </>
  );
};

const selectedIn = (box: HTMLElement, form: 'text' | 'hex') => {
  const selection = document.getSelection();
  if (selection === null || selection.rangeCount === 0 || selection.isCollapsed) return undefined;
  const range = selection.getRangeAt(0);
  if (!box.contains(range.startContainer) || !box.contains(range.endContainer)) return undefined;
  const before = document.createRange();
  before.setStart(box, 0);
  before.setEnd(range.startContainer, range.startOffset);
  const from = before.toString().length;
  return bytesBetween(from, from + range.toString().length, form);
};

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
  const isAllowed = useMay()('files', 'download');
  const { data, error } = useQuery({
    enabled: isAllowed,
    queryKey: ['files', 'steps', fileId, sessionIdx],
    queryFn: async () => {
      const query = { sessionIdx: [sessionIdx], steps: true, length: bytesShown };
      return (await client.files.pcap({ params: { id: fileId }, query })).data.sessions[0];
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!isAllowed) return <Text c="dimmed">{text.files.notAllowed}</Text>;
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
