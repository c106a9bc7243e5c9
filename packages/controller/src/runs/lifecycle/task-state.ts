import { type EndStatus, runStatus, type Status } from '@rushhour/contract';

interface Transition {
  readonly from: readonly Status[];
  readonly to: Status;
  readonly trigger: string;
}

/** All allowed changes of status. */
export const transitions = [
  { trigger: 'start', from: [0, 7, 8, 9], to: 1 },
  { trigger: 'edit', from: [7, 8, 9], to: 0 },
  { trigger: 'begin', from: [1], to: 2 },
  { trigger: 'withdraw', from: [1], to: 8 },
  { trigger: 'arm', from: [2], to: 3 },
  { trigger: 'requeue', from: [2, 3], to: 1 },
  { trigger: 'run', from: [3], to: 4 },
  { trigger: 'pause', from: [4], to: 5 },
  { trigger: 'resume', from: [5], to: 4 },
  { trigger: 'stop', from: [2, 3, 4, 5], to: 6 },
  { trigger: 'fail', from: [1, 2, 3], to: 9 },
  { trigger: 'finish', from: [6], to: 7 },
  { trigger: 'endEarly', from: [6], to: 8 },
  { trigger: 'break', from: [6], to: 9 },
] as const satisfies readonly Transition[];

export type Trigger = (typeof transitions)[number]['trigger'];

const byTrigger = new Map<Trigger, Transition>(transitions.map((transition) => [transition.trigger, transition]));

export const transitionOf = (trigger: Trigger): Transition => byTrigger.get(trigger) as Transition;

export const mayMove = (from: number, to: number) =>
  transitions.some((transition: Transition) => transition.to === to && transition.from.includes(from as Status));

/** The statuses that may follow, in order. */
export const allowedFrom = (from: number): Status[] => Object.values(runStatus).filter((to) => mayMove(from, to));

/** The final status of a stopping run. */
export const endingOf: Record<EndStatus, Trigger> = { 7: 'finish', 8: 'endEarly', 9: 'break' };
