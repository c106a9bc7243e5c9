import { Anchor, Button, Card, Stack, Text } from '@mantine/core';
import type { Application } from '@rushhour/contract';
import { IconPencilPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Range, type Step, StepList } from '../../components/capture/step-list.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Section } from '../../components/page.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { bytes } from '../../lib/units.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';
import { type ParameterDraft, parameterFrom } from './parameter.ts';
import { ParameterDialog } from './parameter-dialog.tsx';
import { ParameterTable } from './parameter-table.tsx';
import { Suggestions } from './suggestions.tsx';

const { applications: words, capture } = text;

interface Edited {
  parameter: ParameterDraft;
  recorded?: Uint8Array;
}

/** Parameters, sessions and recorded bytes of an application. Selected bytes become a parameter. */
export const ApplicationDetails = ({ application }: { application: Application }) => {
  const { parameters } = application;
  const mayEdit = useMay()('applications', 'update');
  const [edited, setEdited] = useState<Edited>();
  const write = useWriteParameters(application);
  const open = usePageSearch().number('session') ?? application.sessions[0]?.sessionIndex;
  const others = parameters.filter(({ id }) => id !== edited?.parameter.id);
  const mark = ({ sessionIdx, stepIdx, side }: Step, range: Range, recorded: Uint8Array) => {
    const value = recorded.subarray(range.offset, range.offset + range.length);
    const taken = parameters.map(({ name }) => name);
    setEdited({ parameter: parameterFrom({ sessionIdx, stepIdx, side, ...range }, value, taken), recorded });
  };
  return (
    <Stack>
      <ParameterTable
        parameters={parameters}
        {...(mayEdit && {
          onEdit: (parameter: ParameterDraft) => setEdited({ parameter }),
          onRemove: (id: number) => write(parameters.filter((one) => one.id !== id)),
        })}
      />
      {mayEdit && <Suggestions applicationId={application.id} onApply={(one) => write([...parameters, one])} />}
      <Sessions application={application} open={open} />
      {open !== undefined && <Steps application={application} open={open} {...(mayEdit && { onMark: mark })} />}
      {edited && (
        <ParameterDialog
          applicationId={application.id}
          others={others}
          {...edited}
          onClose={() => setEdited(undefined)}
          onSave={async (parameter) => {
            await write([...others, parameter]);
            setEdited(undefined);
          }}
        />
      )}
    </Stack>
  );
};

interface StepsProps {
  application: Application;
  open: number;
  /** Left out where nothing may be changed. */
  onMark?: (step: Step, range: Range, recorded: Uint8Array) => void;
}

const Steps = ({ application, open, onMark }: StepsProps) => (
  <Card withBorder padding="sm">
    {onMark && (
      <Text size="sm" c="dimmed" mb="xs">
        {words.howToMark}
      </Text>
    )}
    <StepList
      fileId={application.trimmedPcapFileId ?? application.pcapFileId}
      sessionIdx={open}
      marksOf={(step) => marksOf(application.parameters, step)}
      {...(onMark && {
        onMark,
        action: (step, recorded) => (
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconPencilPlus size={14} />}
            aria-label={words.parameterizeStep(step.stepIdx)}
            onClick={() => onMark(step, { offset: 0, length: Math.min(1, step.length) }, recorded)}
          >
            {words.parameterize}
          </Button>
        ),
      })}
    />
  </Card>
);

const marksOf = (parameters: Application['parameters'], { sessionIdx, stepIdx }: Step) =>
  parameters.flatMap(({ name, stepsMappings }) =>
    stepsMappings
      .filter((mapping) => mapping.sessionIdx === sessionIdx && mapping.stepIdx === stepIdx)
      .map(({ offset, length }) => ({ offset, length, label: name })),
  );

/** An update replaces all parameters; `updatedAt` keeps it from overwriting changes of other users. */
const useWriteParameters = ({ id, updatedAt }: Application) => {
  const queries = useQueryClient();
  const toasts = useToasts();
  return async (parameters: readonly ParameterDraft[]) => {
    await client.applications.update({ body: { id, updatedAt, parameters: [...parameters] as never } });
    toasts.done(text.table.saved);
    await queries.invalidateQueries({ queryKey: ['applications'] });
  };
};

const Sessions = ({ application, open }: { application: Application; open: number | undefined }) => {
  const { push } = usePageSearch();
  return (
    <Section title={capture.sessions}>
      <DataTable
        label={capture.sessions}
        rows={application.sessions}
        keyOf={({ sessionIndex }) => sessionIndex}
        isSelected={({ sessionIndex }) => sessionIndex === open}
        columns={[
          {
            cell: ({ sessionIndex, name }) => (
              <Anchor
                component="button"
                type="button"
                ta="left"
                fw={sessionIndex === open ? 700 : 400}
                onClick={() => push({ session: sessionIndex })}
              >
                {name}
              </Anchor>
            ),
          },
          {
            isMinor: true,
            cell: ({ protocol, srcIp, dstIp, dstPort }) => (
              <Text size="xs" ff="monospace">
                {protocol} {srcIp} → {dstIp}:{dstPort}
              </Text>
            ),
          },
          { align: 'right', cell: ({ bytesC2S, bytesS2C }) => `↑ ${bytes(bytesC2S)} ↓ ${bytes(bytesS2C)}` },
        ]}
      />
    </Section>
  );
};
