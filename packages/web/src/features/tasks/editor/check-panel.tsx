import { Badge, Card, Group, List, Stack, Text, UnstyledButton } from '@mantine/core';
import type { Estimate, ValidationIssue } from '@rushhour/contract';
import { EstimateText } from '../../../components/estimate-text.tsx';
import { Explanation } from '../../../components/explanation.tsx';
import { fieldName, plainMessage } from '../../../lib/issues.ts';
import { text } from '../../../lib/text.ts';

const { editor } = text;

interface CheckPanelProps {
  checked: { valid: boolean; issues: readonly ValidationIssue[]; estimate?: Estimate } | undefined;
  isChecking: boolean;
  error: unknown;
}

const colors = { error: 'red', warning: 'orange', info: 'gray' } as const;

/** The validation of the task: whether it can run, its estimated load, and its issues. */
export const CheckPanel = ({ checked, isChecking, error }: CheckPanelProps) => (
  <Card withBorder aria-live="polite" aria-busy={isChecking}>
    <Stack gap="xs">
      <Group justify="space-between">
        <Text fw={600}>{editor.check}</Text>
        {checked && (
          <Badge color={checked.valid ? 'teal' : 'red'} variant="dot" tt="none">
            {checked.valid ? editor.valid : editor.invalid}
          </Badge>
        )}
      </Group>
      {error !== null && error !== undefined && (
        <Text size="sm" c="red" role="alert">
          <Explanation error={error} />
        </Text>
      )}
      {checked === undefined && (
        <Text size="sm" c="dimmed">
          {isChecking ? editor.checking : editor.noEntries}
        </Text>
      )}
      {checked?.valid && checked.estimate && <EstimateText estimate={checked.estimate} />}
      {checked && checked.issues.length > 0 && (
        <List size="sm" spacing={4} listStyleType="none">
          {checked.issues.map(({ path, message, severity, code }) => (
            <List.Item key={`${path} ${code} ${message}`}>
              <UnstyledButton onClick={() => scrollToField(path)} fz="sm">
                <Text span size="xs" c={colors[severity]} fw={600}>
                  {editor.severity[severity]}
                </Text>{' '}
                <Text span size="xs" c="dimmed">
                  {fieldName(path)}
                </Text>{' '}
                {plainMessage(message)}
              </UnstyledButton>
            </List.Item>
          ))}
        </List>
      )}
    </Stack>
  </Card>
);

/** Scrolls to the field of a JSON pointer, or to its nearest visible parent. */
const scrollToField = (path: string) => {
  const parts = path.split('/');
  while (parts.length > 1) {
    const found = document.querySelector(`[data-pointer="${CSS.escape(parts.join('/')).replaceAll('\\/', '/')}"]`);
    if (found !== null) {
      found.scrollIntoView({ block: 'center' });
      const input = found.querySelector<HTMLElement>('[aria-invalid="true"], input, button');
      return input?.focus({ preventScroll: true });
    }
    parts.pop();
  }
};
