import { hash } from 'node:crypto';
import { StepTemplate } from '@rushhour/pcap';
import { encodeParameter, type ParameterContext, parameterValue } from '@rushhour/pools';
import type { RecordedSession, RecordedStep } from '../captures/session-steps.ts';
import type { Parameter } from '../parameter.ts';

export interface RenderInput {
  readonly mode: string;
  readonly parameters: readonly Parameter[];
  readonly sessions: readonly RecordedSession[];
  readonly step: (sessionIdx: number, stepIdx: number) => RecordedStep;
  /** Values to use, by name of the parameter. */
  readonly values: Readonly<Record<string, string>>;
  readonly startedAtMs: number;
}

export interface RenderIssue {
  readonly path: string;
  readonly code: 'VALUE_MISSING' | 'VALUE_UNFIT';
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

/** Steps as they would go out in the first iteration of the first user; mappings must have been checked. */
export class Renderer {
  readonly issues: RenderIssue[] = [];
  readonly #input: RenderInput;
  readonly #filled = new Map<string, { template: StepTemplate; values: Uint8Array[] }>();
  readonly #values = new Map<string, Uint8Array | undefined>();

  constructor(input: RenderInput) {
    this.#input = input;
  }

  step(sessionIdx: number, stepIdx: number) {
    const { template, values } = this.#fill(sessionIdx, stepIdx);
    const bytes = template.render(values);
    const { side } = this.#input.step(sessionIdx, stepIdx);
    return { sessionIdx, stepIdx, side, length: bytes.length, sha256: sha256Of(bytes), bytes };
  }

  /** Values that do not fit leave the recorded bytes in place, with an issue. */
  #fill(sessionIdx: number, stepIdx: number): { template: StepTemplate; values: Uint8Array[] } {
    const key = `${sessionIdx} ${stepIdx}`;
    const known = this.#filled.get(key);
    if (known) return known;
    const { mode, parameters, sessions } = this.#input;
    const recorded = this.#input.step(sessionIdx, stepIdx).bytes;
    const appProtocol = sessions.find(({ sessionIndex }) => sessionIndex === sessionIdx)?.appProtocol ?? 'unknown';
    const uses = parameters.flatMap((parameter) =>
      parameter.stepsMappings
        .filter((mapping) => mapping.sessionIdx === sessionIdx && mapping.stepIdx === stepIdx)
        .map(({ offset, length }) => ({ parameter, offset, length, type: parameter.type })),
    );
    const template = new StepTemplate(recorded, uses, { mode, appProtocol });
    const values = uses.map(({ parameter, offset, length, type }, index) => {
      const value = this.#valueOf(parameter, sessionIdx);
      const original = recorded.subarray(offset, offset + length);
      if (value === undefined) return original;
      const alone = new StepTemplate(recorded, [{ offset, length, type }], { mode, appProtocol });
      return template.rules[index] === 'fixed' && !this.#fits(parameter, () => alone.render([value]))
        ? original
        : value;
    });
    const filled = { template, values };
    this.#filled.set(key, filled);
    return filled;
  }

  #fits(parameter: Parameter, render: () => unknown): boolean {
    try {
      render();
      return true;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#report(parameter, 'VALUE_UNFIT', error.message);
      return false;
    }
  }

  #valueOf(parameter: Parameter, sessionIdx: number): Uint8Array | undefined {
    const key = `${parameter.name} ${parameter.source === 'system' ? sessionIdx : ''}`;
    if (!this.#values.has(key)) this.#values.set(key, this.#compute(parameter, sessionIdx));
    return this.#values.get(key);
  }

  #compute(parameter: Parameter, sessionIdx: number): Uint8Array | undefined {
    const given = Object.hasOwn(this.#input.values, parameter.name) ? this.#input.values[parameter.name] : undefined;
    if (given === undefined && parameter.source === 'extract') return this.#extract(parameter);
    if (given === undefined && parameter.source === 'dictionary') {
      this.#report(parameter, 'VALUE_MISSING', 'values of a dictionary are drawn by tasks; give one in options.values');
      return undefined;
    }
    try {
      const value = given ?? parameterValue(parameter, this.#context(sessionIdx));
      return value === undefined ? undefined : encodeParameter(parameter.type, value);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#report(parameter, 'VALUE_UNFIT', error.message);
      return undefined;
    }
  }

  #extract(parameter: Parameter): Uint8Array {
    const { extractSessionIdx, extractStepIdx, extractOffset, extractLength } = parameter;
    const { template, values } = this.#fill(extractSessionIdx, extractStepIdx);
    const [from, to] = template.locate(extractOffset, extractOffset + extractLength, values);
    return template.render(values).subarray(from, to);
  }

  #context(sessionIdx: number): ParameterContext {
    const session = this.#input.sessions.find(({ sessionIndex }) => sessionIndex === sessionIdx);
    const now = new Date(this.#input.startedAtMs);
    const system = {
      clientIp: session?.srcIp ?? '',
      clientPort: session?.srcPort ?? 0,
      serverIp: session?.dstIp ?? '',
      serverPort: session?.dstPort ?? 0,
      nowUnix: Math.floor(now.getTime() / 1000),
      nowIso: now.toISOString(),
      taskId: 1,
      attemptId: 1,
    };
    return { seed: 1, user: 0, iteration: 0, system };
  }

  #report({ name }: Parameter, code: RenderIssue['code'], message: string) {
    const index = this.#input.parameters.findIndex((parameter) => parameter.name === name);
    const severity = code === 'VALUE_MISSING' ? 'warning' : 'error';
    this.issues.push({ path: `/parameters/${index}`, code, message, severity });
  }
}

const sha256Of = (bytes: Uint8Array) => hash('sha256', bytes, 'hex');
