import { Box, Collapse, Group, Paper, Switch, Text, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { type ReactNode, useId, useState } from 'react';
import { type FieldProps, frameOf } from './field.ts';
import { issueWithin } from './schema.ts';

/** Members that belong together. Open when something is said or wrong inside; one without a default can be left out. */
export const GroupField = ({ children, ...props }: FieldProps & { children: ReactNode }) => {
  const { schema, isRequired, value, onChange, issues, path } = props;
  const { label, description } = frameOf(props);
  const isGiven = value !== undefined;
  const [isOpen, setOpen] = useState(isGiven || isRequired);
  const id = useId();
  const isLeftOut = !isRequired && schema.default === undefined;
  const isShown = isLeftOut ? isGiven : isOpen || issueWithin(issues, path) !== undefined;
  const Chevron = isShown ? IconChevronDown : IconChevronRight;
  return (
    <Paper withBorder p="xs" data-pointer={path}>
      {isLeftOut ? (
        <Switch
          label={label}
          description={description}
          checked={isGiven}
          onChange={(event) => onChange(event.currentTarget.checked ? {} : undefined)}
        />
      ) : (
        <UnstyledButton onClick={() => setOpen(!isOpen)} aria-expanded={isShown} aria-controls={id} w="100%">
          <Group gap={6} wrap="nowrap">
            <Chevron size={16} style={{ flexShrink: 0 }} />
            <Text size="sm" fw={500} style={{ flexShrink: 0 }}>
              {label}
            </Text>
            <Text size="xs" c="dimmed" truncate>
              {description}
            </Text>
          </Group>
        </UnstyledButton>
      )}
      {issues[path] !== undefined && (
        <Text size="xs" c="red" role="alert">
          {issues[path]}
        </Text>
      )}
      <Collapse expanded={isShown} id={id}>
        {isShown && <Box pt="xs">{children}</Box>}
      </Collapse>
    </Paper>
  );
};
