import { Anchor } from '@mantine/core';
import type { Task } from '@rushhour/contract';
import { Link } from '@tanstack/react-router';

/** A task by its name, or by its number if it has none. */
export const TaskLink = ({ task: { id, comment } }: { task: Pick<Task, 'id' | 'comment'> }) => (
  <Anchor renderRoot={(props) => <Link {...props} to={`/tasks/${id}`} />}>{comment || `#${id}`}</Anchor>
);
