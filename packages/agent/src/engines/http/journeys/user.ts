import type { JourneySystemValue } from '@rushhour/protocol';
import { CookieJar } from '../../../net/cookie-jar.ts';
import { systemValue } from '../../../net/load/system-value.ts';
import type { IndexedMember } from '../../../net/loop/indexed-set.ts';
import type { Carrier } from './carrier.ts';
import { Exchange, type ExchangeOwner } from './exchange.ts';
import type { Instruction, Program } from './program.ts';
import type { JourneyTarget, StepRequest } from './step-request.ts';
import type { ExchangeTrace } from './trace.ts';
import type { DrawnTable } from './variables.ts';

/** What a user needs of its client. */
export interface UserContext {
  readonly isTls: boolean;
  /** Statuses that count as ok where a step does not check them. */
  readonly okStatuses: Uint8Array;
  readonly systemSlots: readonly (readonly [JourneySystemValue, number])[];
  chooseJourney(): Program;
  /** Asks to send one request; `send` follows when it is due. */
  offerRequest(user: JourneyUser, now: number): void;
  schedule(ms: number, action: (now: number) => void): void;
  /** The iteration is over; `isCut`: before its end, because the run ends. */
  onIteration(user: JourneyUser, isCut: boolean, now: number): void;
  onChecksFailed(count: number): void;
  /** Set where exchanges are reported one by one. */
  readonly trace: ExchangeTrace | undefined;
}

interface UserParts {
  readonly index: number;
  /** Number among the users of the agent. */
  readonly number: number;
  readonly initial: readonly string[];
  readonly cells: number;
  readonly tables: number;
  readonly context: UserContext;
}

/** Users wait so long after a failure, because a target that refuses connections answers at once. */
const failurePauseMs = 100;

type RequestInstruction = Extract<Instruction, { op: 'request' }>;

/** Goes through journeys, one iteration after another, with its own cookies and variables. */
export class JourneyUser implements ExchangeOwner, IndexedMember {
  readonly index: number;
  setIndex = -1;
  readonly values: string[];
  carrier!: Carrier;
  /** Requests of this iteration. */
  requests = 0;
  /** A dictionary has no rows left. */
  isDone = false;
  readonly #number: number;
  readonly #context: UserContext;
  readonly #jar = new CookieJar();
  readonly #cells: Float64Array;
  /** Rows drawn so far, by dictionary. */
  readonly #drawn: Float64Array;
  readonly #idle: Exchange[] = [];
  #program!: Program;
  #at = 0;
  #iteration = 0;
  #startedAt = 0;
  #intended = 0;
  #failures = 0;
  /** The instruction under way: requests that were offered, sent and answered. */
  #batch: RequestInstruction | undefined;
  #batchAt = 0;
  #next = 0;
  #offered = 0;
  #ended = 0;
  /** The last answer, for branches; used again by the next request. */
  #last: Exchange | undefined;
  #isThinking = false;
  #isRetiring = false;

  constructor({ index, number, initial, cells, tables, context }: UserParts) {
    this.index = index;
    this.#number = number;
    this.values = [...initial];
    this.#cells = new Float64Array(cells);
    this.#drawn = new Float64Array(tables);
    this.#context = context;
  }

  /** Begins an iteration, unless a dictionary has no rows left. */
  begin(intended: number, now: number): void {
    const program = this.#context.chooseJourney();
    this.#program = program;
    this.#at = 0;
    this.requests = 0;
    this.#failures = 0;
    this.#startedAt = now;
    this.#intended = intended;
    this.#last = undefined;
    this.#setSystemValues();
    for (const table of program.tables) {
      const drawn = this.#drawn[table.table] as number;
      this.#drawn[table.table] = drawn + 1;
      if (this.#draw(table, { iteration: drawn, request: 0 })) continue;
      this.isDone = true;
      this.#finish(true, now);
      return;
    }
    this.#iteration++;
    this.#run(now);
  }

  /** Sends the next request of the batch. */
  send(intended: number, now: number): void {
    const request = this.#batch?.requests[this.#next];
    if (request === undefined) return;
    const position = { iteration: this.#iteration - 1, request: this.requests };
    if (!request.tables.every((table) => this.#draw(table, position))) {
      this.isDone = true;
      this.retire(now);
      return;
    }
    this.#next++;
    this.requests++;
    const exchange = this.#idle.pop() ?? new Exchange(this);
    // A session that was due earlier makes its first request late.
    exchange.begin(request, Math.min(intended, this.requests === 1 ? this.#intended : intended), now);
    exchange.isTraced = this.#context.trace?.isOpen === true;
    this.carrier.send(exchange, now);
  }

  cookieFor(request: StepRequest, { host }: JourneyTarget): string | undefined {
    if (this.#jar.isEmpty) return undefined;
    return this.#jar.headerFor({ host, path: request.pathOf(this.values), isTls: this.#context.isTls });
  }

  onAnswer(exchange: Exchange, now: number): void {
    const { request, fields, status } = exchange;
    const target = exchange.target as JourneyTarget;
    if (fields.some(({ name }) => name === 'set-cookie')) {
      const path = request.pathOf(this.values);
      this.#jar.keep(fields, { host: target.host, path, isTls: this.#context.isTls });
    }
    const isOkStatus = request.checksStatus || this.#context.okStatuses[status] === 1;
    const problems = exchange.isTraced ? request.problemsOf(exchange, this.values, isOkStatus) : [];
    let failed = isOkStatus ? 0 : 1;
    for (const check of request.checks) if (!check.holds(exchange, this.values)) failed++;
    for (const extraction of request.extractions) {
      const found = extraction.find(exchange);
      if (found === undefined) failed++;
      else this.values[extraction.slot] = found;
    }
    if (failed > 0) {
      request.meters.checksFailed.add(failed);
      this.#context.onChecksFailed(failed);
      this.#failures++;
      target.meters.ko.add(1);
    } else target.meters.ok.add(1);
    if (exchange.isTraced) this.#report(exchange, true, problems);
    this.#last = exchange;
    this.#onEnded(exchange, 0, now);
  }

  onFailure(exchange: Exchange, kind: string, now: number): void {
    if (exchange.isTraced) this.#report(exchange, false, [kind]);
    exchange.request.meters.errors.add(1);
    this.#last = undefined;
    this.#failures++;
    this.#onEnded(exchange, failurePauseMs, now);
  }

  #report(exchange: Exchange, isAnswered: boolean, problems: readonly string[]): void {
    const end = { user: this.#number, iteration: this.#iteration, isAnswered, problems, values: this.values };
    this.#context.trace?.report(exchange, end);
  }

  /** Begins no more requests. */
  retire(now: number): void {
    this.#isRetiring = true;
    if (this.#isThinking || (this.#batch !== undefined && this.#next === this.#ended)) this.#finish(true, now);
    else this.carrier.retire();
  }

  #onEnded(exchange: Exchange, pauseMs: number, now: number): void {
    this.#ended++;
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#idle.push(exchange);
    if (this.#isRetiring) {
      if (this.#ended === this.#next) this.#finish(true, now);
    } else if (this.#ended === batch.requests.length) this.#endBatch(batch, pauseMs, now);
    else if (this.#offered < batch.requests.length) this.#offer(now);
  }

  #endBatch(batch: RequestInstruction, pauseMs: number, now: number): void {
    this.#batch = undefined;
    batch.meters?.latency.record((now - this.#batchAt) * 1000);
    if (this.#failures > 0 && this.#program.endOnFailure) this.#at = this.#program.instructions.length;
    if (pauseMs === 0) this.#run(now);
    else this.#pause(pauseMs);
  }

  #pause(ms: number): void {
    this.#isThinking = true;
    this.#context.schedule(ms, (now) => {
      if (!this.#isThinking) return;
      this.#isThinking = false;
      this.#run(now);
    });
  }

  #run(now: number): void {
    const { instructions } = this.#program;
    while (!this.#isRetiring) {
      const instruction = instructions[this.#at++];
      if (instruction === undefined) {
        this.#finish(false, now);
        return;
      }
      if (instruction.op === 'request') {
        this.#beginBatch(instruction, now);
        return;
      }
      if (instruction.op === 'think') {
        this.#pause(instruction.pauseMs());
        return;
      }
      this.#step(instruction, now);
    }
    this.#finish(true, now);
  }

  #beginBatch(instruction: RequestInstruction, now: number): void {
    this.#batch = instruction;
    this.#batchAt = now;
    this.#next = 0;
    this.#offered = 0;
    this.#ended = 0;
    const offered = Math.min(instruction.requests.length, this.carrier.maxExchanges);
    for (let i = 0; i < offered; i++) this.#offer(now);
  }

  #offer(now: number): void {
    this.#offered++;
    this.#context.offerRequest(this, now);
  }

  /** Steps that take no time. */
  #step(instruction: Exclude<Instruction, { op: 'request' | 'think' }>, now: number): void {
    const cells = this.#cells;
    switch (instruction.op) {
      case 'repeat':
        cells[instruction.counter] = instruction.count;
        return;
      case 'again':
        cells[instruction.counter] = (cells[instruction.counter] as number) - 1;
        if ((cells[instruction.counter] as number) > 0) this.#at = instruction.to;
        return;
      case 'branch':
        if (!this.#holds(instruction)) this.#at = instruction.to;
        return;
      case 'jump':
        this.#at = instruction.to;
        return;
      case 'once':
        if (cells[instruction.flag] === 1) this.#at = instruction.to;
        else cells[instruction.flag + 1] = this.#failures;
        return;
      case 'succeeded':
        if (this.#failures === cells[instruction.flag + 1]) cells[instruction.flag] = 1;
        return;
      case 'begin':
        cells[instruction.timer] = now;
        return;
      case 'end':
        instruction.meters.latency.record((now - (cells[instruction.timer] as number)) * 1000);
    }
  }

  #holds({ checks }: Extract<Instruction, { op: 'branch' }>): boolean {
    const last = this.#last;
    return last !== undefined && checks.every((check) => check.holds(last, this.values));
  }

  #finish(isCut: boolean, now: number): void {
    this.#batch = undefined;
    this.#isThinking = false;
    if (!isCut) {
      const { meters } = this.#program;
      meters.iterations.add(1);
      if (this.#failures > 0) meters.failed.add(1);
      meters.time.record((now - this.#startedAt) * 1000);
    }
    this.#context.onIteration(this, isCut, now);
  }

  #draw({ draw, slots }: DrawnTable, position: { iteration: number; request: number }): boolean {
    const row = draw.row({ user: this.#number, ...position });
    if (row === undefined) return false;
    for (const [column, slot] of slots) this.values[slot] = row[column] ?? '';
    return true;
  }

  #setSystemValues(): void {
    const position = { user: this.#number, iteration: this.#iteration };
    for (const [name, slot] of this.#context.systemSlots) this.values[slot] = systemValue(name, position);
  }
}
