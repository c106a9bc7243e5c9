import { Box, Collapse, Group, Paper, Switch, Text, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { type ReactNode, useId, useState } from 'react';
import { type FieldProps, frameOf } from './field.ts';
import { issueWithin } from './schema.ts';

/** What an object starts with where its defaults suit only few: all of RFC 2544 takes nearly five hours. */
const startValues: Readonly<Record<string, object>> = {
  rfc2544: { frameSizes: [64, 512, 1518], trialSec: 10, confirmSec: 10 },
};

/** A nested object. Open if it has a value or an issue; an optional one without a default has a switch. */
export const GroupField = ({ children, ...props }: FieldProps & { children: ReactNode }) => {
  const { schema, isRequired, value, onChange, issues, path } = props;
  const { label, description } = frameOf(props);
  const hasValue = value !== undefined;
  const [isOpen, setOpen] = useState(hasValue || isRequired);
  const id = useId();
  const isOptional = !isRequired && schema.default === undefined;
  const isShown = isOptional ? hasValue : isOpen || issueWithin(issues, path) !== undefined;
  const Chevron = isShown ? IconChevronDown : IconChevronRight;
  return (
    <Paper withBorder px="xs" py={6} data-pointer={path}>
      {isOptional ? (
        <Switch
          label={label}
          description={description}
          checked={hasValue}
          onChange={(event) => onChange(event.currentTarget.checked ? (startValues[props.name] ?? {}) : undefined)}
        />
      ) : (
        <UnstyledButton onClick={() => setOpen(!isOpen)} aria-expanded={isShown} aria-controls={id} w="100%">
          <Group gap={6} wrap="nowrap">
            <Chevron size={16} style={{ flexShrink: 0 }} />
            <Text size="sm" fw={500} style={{ flexShrink: 0 }}>
              {label}
            </Text>
            <Text size="xs" c="dimmed" truncate component="div">
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
