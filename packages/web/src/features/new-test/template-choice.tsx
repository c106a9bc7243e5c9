import {
  Button,
  Card,
  Group,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  TextInput,
  Title,
  UnstyledButton,
} from '@mantine/core';
import type { TaskTemplate } from '@rushhour/contract';
import { IconSearch } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { EmptyState } from '../../components/page.tsx';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { type Question, questionOf, questions } from './new-test-form.ts';
import classes from './new-test-page.module.css';

const { newTest: words } = text;

interface TemplateChoiceProps {
  templates: readonly TaskTemplate[] | undefined;
  selected: number | undefined;
  onSelect: (template: TaskTemplate) => void;
}

/** All templates by the question they answer. */
export const TemplateChoice = ({ templates, selected, onSelect }: TemplateChoiceProps) => {
  const [typed, setTyped] = useState('');
  const [asked, setAsked] = useState<Question>();
  const may = useMay();
  if (templates === undefined) return <Skeleton height={200} mt="md" />;
  if (templates.length === 0) return <EmptyState title={words.noTemplates} />;
  const found = templates.filter(
    (template) => matches(template, typed) && (asked === undefined || questionOf(template) === asked),
  );
  return (
    <Stack mt="md">
      <Group justify="space-between">
        <TextInput
          data-search
          aria-label={words.find}
          placeholder={words.find}
          leftSection={<IconSearch size={16} />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          w={{ base: '100%', xs: 320 }}
        />
        {may('tasks', 'create') && (
          <Button variant="default" renderRoot={(props) => <Link {...props} to="/tasks/new" />}>
            {words.fromScratch}
          </Button>
        )}
      </Group>
      <QuestionButtons templates={templates} asked={asked} onAsk={setAsked} />
      {found.length === 0 && <EmptyState title={text.table.noneFound} />}
      {(asked === undefined ? allQuestions : [asked]).map((question) => (
        <QuestionGroup
          key={question}
          question={question}
          templates={found.filter((template) => questionOf(template) === question)}
          selected={selected}
          onSelect={onSelect}
        />
      ))}
    </Stack>
  );
};

interface QuestionButtonsProps {
  templates: readonly TaskTemplate[];
  asked: Question | undefined;
  onAsk: (question: Question | undefined) => void;
}

/** Leaves the test types of one question; pressed again, all of them. */
const QuestionButtons = ({ templates, asked, onAsk }: QuestionButtonsProps) => {
  const answered = new Set(templates.map(questionOf));
  return (
    <Group gap="xs" role="group" aria-label={words.question}>
      {allQuestions
        .filter((question) => answered.has(question))
        .map((question) => (
          <Button
            key={question}
            size="compact-sm"
            variant={question === asked ? 'filled' : 'default'}
            aria-pressed={question === asked}
            onClick={() => onAsk(question === asked ? undefined : question)}
          >
            {words.questions[question]}
          </Button>
        ))}
    </Group>
  );
};

const allQuestions = [...questions, 'other'] as const;

const matches = ({ name, description, tags }: TaskTemplate, typed: string) =>
  [name, description, tags].join(' ').toLowerCase().includes(typed.trim().toLowerCase());

interface QuestionGroupProps extends TemplateChoiceProps {
  question: Question;
  templates: readonly TaskTemplate[];
}

const QuestionGroup = ({ question, templates, selected, onSelect }: QuestionGroupProps) =>
  templates.length > 0 && (
    <section>
      <Title order={2} size="h5" mb="xs">
        {words.questions[question]}
      </Title>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="xs">
        {templates.map((template) => (
          <UnstyledButton
            key={template.id}
            className={classes['choice'] ?? ''}
            aria-pressed={template.id === selected}
            onClick={() => onSelect(template)}
            title={template.description}
          >
            <Card withBorder h="100%" padding="xs">
              <Text size="sm" fw={600}>
                {template.name}
              </Text>
              <Text size="xs" c="dimmed" lineClamp={2}>
                {template.description}
              </Text>
            </Card>
          </UnstyledButton>
        ))}
      </SimpleGrid>
    </section>
  );
