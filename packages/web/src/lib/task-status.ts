/** The states of tasks and runs as people read them. */
export const taskStates: readonly { name: string; color: string }[] = [
  { name: 'created', color: 'gray' },
  { name: 'queued', color: 'blue' },
  { name: 'preparing', color: 'blue' },
  { name: 'armed', color: 'blue' },
  { name: 'running', color: 'orange' },
  { name: 'paused', color: 'yellow' },
  { name: 'stopping', color: 'yellow' },
  { name: 'finished', color: 'teal' },
  { name: 'stopped', color: 'gray' },
  { name: 'failed', color: 'red' },
];

export const verdicts: readonly { name: string; color: string }[] = [
  { name: 'no verdict', color: 'gray' },
  { name: 'passed', color: 'teal' },
  { name: 'failed', color: 'red' },
  { name: 'inconclusive', color: 'yellow' },
];

export const agentStates: readonly { name: string; color: string }[] = [
  { name: 'never seen', color: 'gray' },
  { name: 'online', color: 'teal' },
  { name: 'busy', color: 'orange' },
  { name: 'suspect', color: 'yellow' },
  { name: 'offline', color: 'gray' },
  { name: 'blocked', color: 'red' },
  { name: 'upgrading', color: 'blue' },
  { name: 'incompatible', color: 'red' },
];
