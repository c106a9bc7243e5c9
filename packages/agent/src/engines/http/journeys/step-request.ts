import type { HttpClientConfig, JourneyStep, Target } from '@rushhour/protocol';
import type { Header as H2Header } from '@rushhour/wire';
import { messagesOf } from '../../../net/load/payload.ts';
import { cyclerOf } from '../../../net/load/rotation.ts';
import type { Message, Transport } from '../../../net/transport/transport.ts';
import { KnownHead } from '../h1/known-head.ts';
import type { ResponseHead } from '../h1/response-parser.ts';
import type { HttpMeters } from '../meters.ts';
import { authorityOf } from '../request.ts';
import { type Answer, type Check, checkText, createCheck, createExtraction, type Extraction } from './answer.ts';
import type { StepMeters } from './meters.ts';
import { createTemplate, type FindVariable, type Template } from './template.ts';
import type { DrawnTable } from './variables.ts';

/** A target with the data that all its users share. */
export interface JourneyTarget {
  readonly index: number;
  readonly target: Target;
  readonly address: string;
  readonly authority: string;
  /** Host of its cookies. */
  readonly host: string;
  readonly meters: HttpMeters;
}

export interface RequestContext {
  /** Name of the journey. */
  readonly journey: string;
  /** Variables of the journey by name. */
  readonly variables: ReadonlyMap<string, ReturnType<FindVariable>>;
  readonly config: HttpClientConfig;
  readonly transport: Pick<Transport, 'prepareMessage'>;
  readonly find: FindVariable;
  readonly slotOf: (variable: string) => number;
  readonly meters: StepMeters;
  /** Dictionaries with a row for every request. */
  readonly tables: readonly DrawnTable[];
  /** A branch looks at the body of the answer. */
  readonly keepsBody: boolean;
}

interface PerTarget {
  /** Answers to one step are mostly identical. */
  readonly known: KnownHead<ResponseHead>;
  message: Message | undefined;
}

const perConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'host']);
const methodsWithLength = new Set(['POST', 'PUT', 'PATCH']);

/** A request line holds visible ASCII only; values may be anything. An address is reduced to its path. */
const pathText = (text: string): string =>
  text
    .replace(/^https?:\/\/[^/?#]*/i, '')
    .toWellFormed()
    .replace(/[^\x21-\x7e]+/gu, encodeURIComponent) || '/';

/** Values may hold line breaks, which would begin another header. */
const fieldText = (text: string): string => text.replace(/[\r\n]+/g, ' ');

const mergedHeaders = (config: HttpClientConfig, step: JourneyStep) => {
  const own = new Set(step.headers.map(({ name }) => name.toLowerCase()));
  return [...config.headers.filter(({ name }) => !own.has(name.toLowerCase())), ...step.headers];
};

/** The request of one step: how it is written, and what is done with its answer. */
export class StepRequest {
  readonly name: string;
  readonly journey: string;
  readonly variables: RequestContext['variables'];
  readonly meters: StepMeters;
  readonly isHead: boolean;
  readonly needsBody: boolean;
  readonly checks: readonly Check[];
  readonly extractions: readonly Extraction[];
  /** False: the statuses of the configuration count. */
  readonly checksStatus: boolean;
  readonly tables: readonly DrawnTable[];
  readonly method: string;
  readonly #config: HttpClientConfig;
  readonly #transport: RequestContext['transport'];
  readonly #path: Template;
  readonly #headers: readonly { readonly name: string; readonly value: Template }[];
  readonly #bodyText: Template | undefined;
  readonly #nextBody: (() => Buffer) | undefined;
  readonly #isStatic: boolean;
  readonly #perTarget: PerTarget[] = [];
  readonly #checkTexts: readonly string[];

  constructor(step: JourneyStep, context: RequestContext) {
    const { config, transport, find, slotOf, meters, tables, keepsBody } = context;
    this.name = step.name;
    this.journey = context.journey;
    this.variables = context.variables;
    this.#checkTexts = step.checks.map(checkText);
    this.#config = config;
    this.#transport = transport;
    this.meters = meters;
    this.tables = tables;
    this.method = step.method;
    this.isHead = step.method === 'HEAD';
    this.#path = createTemplate(step.path, find);
    this.#headers = mergedHeaders(config, step).map(({ name, value }) => ({
      name,
      value: createTemplate(value, find),
    }));
    const { body } = step;
    if (body?.type === 'text') this.#bodyText = createTemplate(body.data, find);
    else if (body !== undefined) this.#nextBody = cyclerOf(messagesOf(body));
    this.checks = step.checks.map((check) => createCheck(check, find));
    this.extractions = step.extract.map((one) => createExtraction(one, slotOf(one.variable)));
    this.checksStatus = step.checks.some(({ kind }) => kind === 'status');
    this.needsBody = keepsBody || [...this.checks, ...this.extractions].some(({ needsBody }) => needsBody);
    const texts = [this.#path, ...this.#headers.map(({ value }) => value), ...(this.#bodyText ? [this.#bodyText] : [])];
    this.#isStatic = body?.type !== 'values' && texts.every(({ isStatic }) => isStatic);
  }

  knownOf(target: JourneyTarget): KnownHead<ResponseHead> {
    return this.#of(target).known;
  }

  pathOf(values: readonly string[]): string {
    return pathText(this.#path.render(values));
  }

  /** What is wrong with an answer, for people. */
  problemsOf(answer: Answer, values: readonly string[], isOkStatus: boolean): string[] {
    return [
      ...(isOkStatus ? [] : [`status is ${answer.status}`]),
      ...this.checks.flatMap((check, i) =>
        check.holds(answer, values) ? [] : [`failed check: ${this.#checkTexts[i]}`],
      ),
      ...this.extractions.flatMap((one) => (one.find(answer) === undefined ? [`no value for ${one.variable}`] : [])),
    ];
  }

  /** The prepared message, where all requests of the step are the same; undefined otherwise. */
  fixedMessage(target: JourneyTarget): Message | undefined {
    if (!this.#isStatic) return undefined;
    const of = this.#of(target);
    of.message ??= this.#transport.prepareMessage(this.bytes(target, [], undefined));
    return of.message;
  }

  /** The request for HTTP/1.1. */
  bytes(target: JourneyTarget, values: readonly string[], cookie: string | undefined): Buffer {
    let head = `${this.method} ${this.pathOf(values)} HTTP/1.1\r\n`;
    let [hasHost, hasLength] = [false, false];
    for (const { name, value } of this.#headers) {
      const lower = name.toLowerCase();
      hasHost ||= lower === 'host';
      hasLength ||= lower === 'content-length';
      head += `${name}: ${fieldText(value.render(values))}\r\n`;
    }
    if (!hasHost) head += `Host: ${target.authority}\r\n`;
    if (cookie !== undefined) head += `Cookie: ${cookie}\r\n`;
    if (!this.#config.keepAlive.enabled) head += 'Connection: close\r\n';
    const body = this.bodyOf(values);
    const needsLength = body !== undefined || methodsWithLength.has(this.method);
    if (needsLength && !hasLength) head += `Content-Length: ${body?.length ?? 0}\r\n`;
    const bytes = Buffer.from(`${head}\r\n`, 'latin1');
    return body === undefined ? bytes : Buffer.concat([bytes, body]);
  }

  bodyOf(values: readonly string[]): Buffer | undefined {
    return this.#bodyText === undefined ? this.#nextBody?.() : Buffer.from(this.#bodyText.render(values));
  }

  /** The header list for HTTP/2. */
  h2Headers(
    target: JourneyTarget,
    values: readonly string[],
    { cookie, length }: { cookie: string | undefined; length: number | undefined },
  ): H2Header[] {
    const headers: H2Header[] = [
      [':method', this.method],
      [':scheme', this.#config.tls === undefined ? 'http' : 'https'],
      [':path', this.pathOf(values)],
      [':authority', target.authority],
    ];
    for (const { name, value } of this.#headers) {
      const lower = name.toLowerCase();
      if (!perConnection.has(lower)) headers.push([lower, fieldText(value.render(values))]);
    }
    if (cookie !== undefined) headers.push(['cookie', cookie]);
    if (length !== undefined) headers.push(['content-length', String(length)]);
    return headers;
  }

  #of({ index }: JourneyTarget): PerTarget {
    this.#perTarget[index] ??= { known: new KnownHead<ResponseHead>(), message: undefined };
    return this.#perTarget[index];
  }
}

export const journeyTargetOf = (
  config: HttpClientConfig,
  target: Target,
  { index, address, meters }: Pick<JourneyTarget, 'index' | 'address' | 'meters'>,
): JourneyTarget => {
  const authority = authorityOf(config, target);
  const host = authority.replace(/:\d+$/, '').toLowerCase();
  return { index, target, address, authority, host, meters };
};
