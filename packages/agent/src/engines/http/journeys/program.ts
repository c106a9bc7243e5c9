import type { HttpClientConfig, Journey, JourneyStep } from '@rushhour/protocol';
import type { Samples } from '../../../engine.ts';
import type { Transport } from '../../../net/transport/transport.ts';
import { type Check, createCheck } from './answer.ts';
import { JourneyMeters, StepMeters } from './meters.ts';
import { StepRequest } from './step-request.ts';
import { createThinkTime } from './think-time.ts';
import type { DrawnTable, VariableBook } from './variables.ts';

/** Steps as a list with jumps, so that a user only keeps its position. `to` is the position of the next instruction. */
export type Instruction =
  | { readonly op: 'request'; readonly requests: readonly StepRequest[]; readonly meters: StepMeters | undefined }
  | { readonly op: 'think'; readonly pauseMs: () => number }
  | { readonly op: 'repeat'; readonly counter: number; readonly count: number }
  | { readonly op: 'again'; readonly counter: number; readonly to: number }
  | { readonly op: 'branch'; readonly checks: readonly Check[]; to: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'once'; readonly flag: number; to: number }
  | { readonly op: 'succeeded'; readonly flag: number }
  | { readonly op: 'begin'; readonly timer: number }
  | { readonly op: 'end'; readonly timer: number; readonly meters: StepMeters };

/** A journey that is ready to be run. */
export interface Program {
  readonly index: number;
  readonly weight: number;
  readonly endOnFailure: boolean;
  readonly meters: JourneyMeters;
  readonly instructions: readonly Instruction[];
  /** Dictionaries with a row for every iteration. */
  readonly tables: readonly DrawnTable[];
  /** Positions of counters, flags and timers in the cells of a user are below this. */
  readonly endCell: number;
}

export interface ProgramContext {
  readonly config: HttpClientConfig;
  readonly transport: Pick<Transport, 'prepareMessage'>;
  readonly samples: Samples;
  readonly book: VariableBook;
  /** Cells of a user before this belong to other journeys. */
  readonly firstCell: number;
}

/** Requests of one iteration, at most. */
export const maxRequestsOf = ({ steps }: Journey): number => {
  const below = (parent: number): number =>
    steps.reduce((sum, step, index) => {
      if (step.parent !== parent) return sum;
      if (step.kind === 'request') return sum + 1;
      return sum + below(index) * (step.kind === 'repeat' ? step.count : 1);
    }, 0);
  return below(-1);
};

class Compiler {
  readonly instructions: Instruction[] = [];
  cells: number;
  readonly #journey: Journey;
  readonly #context: ProgramContext;
  readonly #find;
  readonly #variables;
  readonly #perRequest: readonly DrawnTable[];
  readonly #keepsBody: boolean;
  readonly tables: readonly DrawnTable[];

  constructor(journey: Journey, index: number, context: ProgramContext) {
    this.#journey = journey;
    this.#context = context;
    this.cells = context.firstCell;
    const { find, tables, used } = context.book.variablesOf(journey, index);
    this.#find = find;
    this.#variables = used;
    this.#perRequest = tables.filter(({ isPerRequest }) => isPerRequest);
    this.tables = tables.filter(({ isPerRequest }) => !isPerRequest);
    this.#keepsBody = journey.steps.some(
      ({ kind, checks }) => kind === 'branch' && checks.some((check) => createCheck(check, find).needsBody),
    );
    this.#add(-1);
  }

  #childrenOf(parent: number, when?: JourneyStep['when']): (readonly [JourneyStep, number])[] {
    return this.#journey.steps.flatMap((step, index) =>
      step.parent === parent && (when === undefined || step.when === when) ? [[step, index] as const] : [],
    );
  }

  #add(parent: number, when?: JourneyStep['when']): void {
    for (const [step, index] of this.#childrenOf(parent, when)) {
      if (step.once) this.#addOnce(step, index);
      else this.#addStep(step, index);
    }
  }

  #addOnce(step: JourneyStep, index: number): void {
    // The cell after the flag keeps how many failures there were before.
    const flag = this.cells;
    this.cells += 2;
    const once = { op: 'once' as const, flag, to: 0 };
    this.instructions.push(once);
    this.#addStep(step, index);
    this.instructions.push({ op: 'succeeded', flag });
    once.to = this.instructions.length;
  }

  #addStep(step: JourneyStep, index: number): void {
    const { instructions } = this;
    switch (step.kind) {
      case 'request':
        instructions.push({ op: 'request', requests: [this.#requestOf(step)], meters: undefined });
        return;
      case 'parallel': {
        const requests = this.#childrenOf(index).map(([child]) => this.#requestOf(child));
        instructions.push({ op: 'request', requests, meters: this.#metersOf(step) });
        return;
      }
      case 'think':
        instructions.push({ op: 'think', pauseMs: createThinkTime(step) });
        return;
      case 'group':
        this.#addGroup(step, index);
        return;
      case 'repeat':
        this.#addRepeat(step, index);
        return;
      case 'branch':
        this.#addBranch(step, index);
    }
  }

  #addGroup(step: JourneyStep, index: number): void {
    const timer = this.cells++;
    this.instructions.push({ op: 'begin', timer });
    this.#add(index);
    this.instructions.push({ op: 'end', timer, meters: this.#metersOf(step) });
  }

  #addRepeat({ count }: JourneyStep, index: number): void {
    const counter = this.cells++;
    this.instructions.push({ op: 'repeat', counter, count });
    const to = this.instructions.length;
    this.#add(index);
    this.instructions.push({ op: 'again', counter, to });
  }

  #addBranch({ checks }: JourneyStep, index: number): void {
    const branch = { op: 'branch' as const, checks: checks.map((check) => createCheck(check, this.#find)), to: 0 };
    const jump = { op: 'jump' as const, to: 0 };
    this.instructions.push(branch);
    this.#add(index, 'holds');
    this.instructions.push(jump);
    branch.to = this.instructions.length;
    this.#add(index, 'fails');
    jump.to = this.instructions.length;
  }

  #metersOf({ name }: JourneyStep): StepMeters {
    return new StepMeters(this.#context.samples, `${this.#journey.name}.${name}`);
  }

  #requestOf(step: JourneyStep): StepRequest {
    const { config, transport, book } = this.#context;
    return new StepRequest(step, {
      ...{ config, transport, find: this.#find, tables: this.#perRequest, keepsBody: this.#keepsBody },
      ...{ journey: this.#journey.name, variables: this.#variables },
      slotOf: (variable) => book.slotOf(variable),
      meters: this.#metersOf(step),
    });
  }
}

export const createProgram = (journey: Journey, index: number, context: ProgramContext): Program => {
  const { instructions, cells, tables } = new Compiler(journey, index, context);
  return {
    ...{ index, weight: journey.weight, endOnFailure: journey.endOnFailure, instructions, tables },
    endCell: cells,
    meters: new JourneyMeters(context.samples, journey.name),
  };
};
