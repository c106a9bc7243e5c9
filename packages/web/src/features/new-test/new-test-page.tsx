import { Stack, Stepper } from '@mantine/core';
import type { TaskTemplate } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { PageHeading } from '../../components/page.tsx';
import { UnsavedGuard } from '../../components/unsaved-guard.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';
import { AgentsStep } from './agents-step.tsx';
import { LoadStep } from './load-step.tsx';
import { type Agent, formOf, type NewTestForm, noSubject, withRecord } from './new-test-form.ts';
import { SubjectFields } from './subject-fields.tsx';
import { TemplateChoice } from './template-choice.tsx';

const { newTest: words } = text;

/** Three steps from a question to a running test: test type, agents, load and duration. */
export const NewTestPage = () => {
  const [step, setStep] = useState(0);
  const [template, setTemplate] = useState<TaskTemplate>();
  const [subject, setSubject] = useState(noSubject);
  const [form, setForm] = useState<NewTestForm>();
  const [isChanged, setChanged] = useState(false);
  const agents = useOnlineAgents();
  const templates = useTemplates();
  const select = (selected: TaskTemplate, record?: number) => {
    setTemplate(selected);
    setForm(withRecord(formOf(selected, agents ?? [], subject), selected, record));
    setStep(1);
  };
  useGivenTemplate(templates, agents, select);
  const change = (members: Partial<NewTestForm>) => {
    const { name, projectID, device } = { ...subject, ...members };
    setSubject({ name, projectID, device });
    setForm((known) => known && { ...known, ...members });
    setChanged(true);
  };
  return (
    <Stack maw={1000}>
      <UnsavedGuard isUnsaved={isChanged} />
      <PageHeading title={text.nav.newTest} />
      <Stepper active={step} onStepClick={setStep} allowNextStepsSelect={template !== undefined} size="sm">
        <Stepper.Step label={words.template}>
          <SubjectFields subject={subject} template={template?.name} onChange={change} />
          <TemplateChoice templates={templates} selected={template?.id} onSelect={(selected) => select(selected)} />
        </Stepper.Step>
        <Stepper.Step label={words.agents}>
          {template && form && (
            <AgentsStep {...{ template, agents, form }} onChange={change} onNext={() => setStep(2)} />
          )}
        </Stepper.Step>
        <Stepper.Step label={words.load}>
          {template && form && <LoadStep {...{ template, form }} onChange={change} />}
        </Stepper.Step>
      </Stepper>
    </Stack>
  );
};

const useOnlineAgents = (): readonly Agent[] | undefined =>
  useQuery({
    queryKey: ['agents', 'list', 'online'],
    queryFn: async () =>
      (await client.agents.list({ query: { status: '1,2', count: 100, key: 'name', order: 'asc' } })).data,
    refetchInterval: 5000,
  }).data;

const useTemplates = (): readonly TaskTemplate[] | undefined =>
  useQuery({
    queryKey: ['taskTemplates', 'list', 'new test'],
    queryFn: readTemplates,
  }).data;

/** All of them: they are searched and grouped on the page. */
const readTemplates = async (): Promise<TaskTemplate[]> => {
  const read = (page: number) => client.taskTemplates.list({ query: { count: 100, key: 'id', order: 'asc', page } });
  const { data, cursor } = await read(1);
  const others = Array.from({ length: Math.max(0, cursor.totalPages - 1) }, (_, i) => read(i + 2));
  return [...data, ...(await Promise.all(others)).flatMap((page) => page.data)];
};

/** Links such as "Test with this" name a template and its record in the URL. */
const useGivenTemplate = (
  templates: readonly TaskTemplate[] | undefined,
  agents: readonly Agent[] | undefined,
  select: (template: TaskTemplate, record?: number) => void,
) => {
  const { text: read, number } = usePageSearch();
  const name = read('template');
  const given = templates?.find((template) => template.name === name);
  // biome-ignore lint/correctness/useExhaustiveDependencies: selected once, when templates and agents are known
  useEffect(() => {
    if (given !== undefined && agents !== undefined) select(given, number('record'));
  }, [given, agents === undefined]);
};
