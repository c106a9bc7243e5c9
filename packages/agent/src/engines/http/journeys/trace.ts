import type { ExchangeTraceSettings, ResultRow } from '@rushhour/protocol';
import { shareOf } from '../../../net/load/share.ts';
import type { Exchange } from './exchange.ts';

/** Longer texts are cut. */
const maxChars = { request: 4096, response: 8192, problem: 4096, variable: 256 } as const;
const maxVariables = 64;
/** A report to the controller holds 4 MiB. */
const maxBytes = 2_097_152;

const shown = (text: string, max: number): string => {
  // Bodies may be binary: control characters other than line breaks and tabs are shown as dots.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced
  const clean = text.slice(0, max).replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g, '·');
  return text.length > max ? `${clean}… (${text.length - max} more characters)` : clean;
};

/** Credentials of the task are not shown to everyone who may read its results. */
const withoutCredentials = (request: string, hidden: ReadonlySet<string>): string => {
  const end = request.indexOf('\r\n\r\n');
  const lines = request.slice(0, end).split('\r\n');
  const shownLines = lines.map((line) => {
    const name = line.slice(0, line.indexOf(':', 1));
    return hidden.has(name.toLowerCase()) ? `${name}: ********` : line;
  });
  return `${shownLines.join('\r\n')}${request.slice(end)}`;
};

/** An object of JSON. */
const variablesText = (variables: Readonly<Record<string, string>>): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(variables)
        .slice(0, maxVariables)
        .map(([name, value]) => [name, shown(value, maxChars.variable)]),
    ),
  );

const responseText = ({ status, fields }: Exchange, body: string): string => {
  const head = fields.flatMap(({ name, value }) => (name.startsWith(':') ? [] : [`${name}: ${value}`]));
  return [`HTTP ${status}`, ...head, '', body].join('\r\n');
};

interface TraceOptions {
  readonly settings: ExchangeTraceSettings;
  readonly core: { readonly index: number; readonly count: number };
  readonly put: (row: ResultRow) => void;
}

/** What ended an exchange. */
export interface ExchangeEnd {
  /** Numbers of the user and of its iteration. */
  readonly user: number;
  readonly iteration: number;
  readonly isAnswered: boolean;
  /** Checks that did not hold, or why there is no answer; empty when all is well. */
  readonly problems: readonly string[];
  /** Of the user, after the answer. */
  readonly values: readonly string[];
}

/** Values by name: those that requests use when they are sent, or that answers were taken from. */
const variablesOf = ({ request, sentValues }: Exchange): Record<string, string> =>
  Object.fromEntries(
    [...request.variables].map(([name, found]) => [
      name,
      'value' in found ? found.value : (sentValues[found.slot] ?? ''),
    ]),
  );

const extractedOf = ({ request }: Exchange, { values, isAnswered }: ExchangeEnd): Record<string, string> =>
  isAnswered ? Object.fromEntries(request.extractions.map(({ variable, slot }) => [variable, values[slot] ?? ''])) : {};

const answerCells = (exchange: Exchange) => ({
  status: exchange.status,
  timeMs: Math.round(exchange.timeMs * 1000) / 1000,
  size: exchange.size,
  response: shown(responseText(exchange, exchange.body()), maxChars.response),
});
const noAnswerCells = { status: null, timeMs: null, size: null, response: '' };

/** Reports requests with their answers and variables, until there are as many as wanted. */
export class ExchangeTrace {
  readonly #options: TraceOptions;
  readonly #limit: number;
  readonly #maxBytes: number;
  readonly #hidden: ReadonlySet<string>;
  #reported = 0;
  #bytes = 0;

  constructor(options: TraceOptions) {
    const { settings, core } = options;
    this.#options = options;
    this.#hidden = new Set(settings.hiddenHeaders);
    this.#limit = shareOf(settings.exchanges, core.index, core.count);
    this.#maxBytes = maxBytes / core.count;
  }

  get isOpen(): boolean {
    return this.#reported < this.#limit && this.#bytes < this.#maxBytes;
  }

  report(exchange: Exchange, end: ExchangeEnd): void {
    const { settings, core, put } = this.#options;
    const { user, iteration, isAnswered, problems } = end;
    if (!this.isOpen || (settings.onlyFailed && problems.length === 0)) return;
    const { request } = exchange;
    const cells = {
      ...{ journey: request.journey, step: request.name, user, iteration, method: request.method },
      path: exchange.sentPath,
      problem: shown(problems.join('; '), maxChars.problem),
      variables: variablesText(variablesOf(exchange)),
      extracted: variablesText(extractedOf(exchange, end)),
      request: shown(withoutCredentials(exchange.sentText, this.#hidden), maxChars.request),
      ...(isAnswered ? answerCells(exchange) : noAnswerCells),
    };
    this.#bytes += Buffer.byteLength(JSON.stringify(cells));
    const state = isAnswered ? (problems.length > 0 ? 'failed' : 'ok') : 'noAnswer';
    put({ index: core.index + this.#reported++ * core.count, state, cells });
  }
}
